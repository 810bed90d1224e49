"""Where partitions are to be: what planners answer with, for people to read or the controller to begin."""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.metadata.image import ClusterImage
from penstock.metadata.placement import Replicas
from penstock.metadata.reassignment import move
from penstock.metadata.records import PartitionChangeRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One partition, and the replicas it is to have, the preferred leader first."""

    topic: str
    partition: int
    replicas: Replicas


def begin_moves(image: ClusterImage, targets: Iterable[Target]) -> tuple[PartitionChangeRecord, ...]:
    """Records that begin to move partitions to their targets; each partition may be named once."""
    records = (move(image, image.topics[each.topic], each.partition, each.replicas) for each in targets)
    return tuple(record for record in records if record is not None)
