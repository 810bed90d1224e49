"""Which brokers hold a new partition.

Leaders go round the brokers in turn, so that load spreads by itself; followers are shifted a little further
each round, so that the partitions one broker leads are not all followed by the same neighbour. Replicas of a
partition stand in different racks as far as there are racks (KIP-36). Fenced brokers lead nothing and follow
only when the others are too few; brokers that are being emptied get nothing.

Where the round begins is the caller's choice, not chance: the same request on the same image places the same.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import zip_longest

from penstock.metadata.broker_image import BrokerImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId

Replicas = tuple[NodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What is wanted: so many partitions with so many replicas, the first of them as number ``start``."""

    partitions: int
    replication_factor: int
    start: int


def place(brokers: Collection[BrokerImage], wanted: Placement) -> tuple[Replicas, ...]:
    """Replicas for each partition, the leader first; INVALID_REPLICATION_FACTOR when it cannot be done."""
    brokers = [broker for broker in brokers if not broker.is_cordoned]
    _check_possible(brokers, wanted.replication_factor)
    racks = {broker.node_id: broker.rack for broker in brokers}
    ring = _ring([broker for broker in brokers if broker.is_active])
    spares = _ring([broker for broker in brokers if not broker.is_active])
    return tuple(
        _replicas(wanted.start + index, wanted.replication_factor, ring, spares, racks)
        for index in range(wanted.partitions)
    )


def _check_possible(brokers: Collection[BrokerImage], replication_factor: int) -> None:
    if not any(broker.is_active for broker in brokers):
        raise _impossible(replication_factor, "All brokers are currently fenced.")
    if replication_factor > len(brokers):
        raise _impossible(
            replication_factor,
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(brokers)} broker(s) are registered.",
        )


def _ring(brokers: Collection[BrokerImage]) -> list[NodeId]:
    """Brokers in a fixed order in which neighbours stand in different racks as long as that is possible."""
    racks: dict[str, list[NodeId]] = {}
    for broker in sorted(brokers, key=lambda broker: broker.node_id):
        racks.setdefault(broker.rack or "", []).append(broker.node_id)
    rounds = zip_longest(*(racks[rack] for rack in sorted(racks)))
    return [node_id for round in rounds for node_id in round if node_id is not None]


def _replicas(
    number: int, count: int, ring: list[NodeId], spares: list[NodeId], racks: dict[NodeId, str | None]
) -> Replicas:
    position = number % len(ring)
    others = ring[position + 1 :] + ring[:position]
    shift = number // len(ring) % len(others) if others else 0
    chosen = [ring[position]]
    for candidates in (others[shift:] + others[:shift], list(spares)):
        while candidates and len(chosen) < count:
            taken = {racks[node_id] for node_id in chosen}
            best = next((node_id for node_id in candidates if racks[node_id] not in taken), candidates[0])
            chosen.append(best)
            candidates.remove(best)
    return tuple(chosen)


def _impossible(replication_factor: int, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REPLICATION_FACTOR,
        f"Unable to replicate the partition {replication_factor} time(s): {reason}",
    )
