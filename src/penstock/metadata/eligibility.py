"""Eligible leaders depend on min.insync.replicas: when that changes, so may they.

A replica is eligible because nothing was committed without it while the in-sync set was too small. Lower the
minimum, and the same set is large enough: from that moment records are committed which the eligible ones
never saw. So they stop being eligible in the very records that lower it, before any leader can act on them.
"""

from collections.abc import Iterable

from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import partitions_of
from penstock.metadata.records import MetadataRecord, PartitionChangeRecord
from penstock.metadata.replication_rules import settled_replica_count, topic_rules


def with_eligibility(image: ClusterImage, records: Iterable[MetadataRecord]) -> tuple[MetadataRecord, ...]:
    """Records that change settings, and behind them those that end eligibility which no longer holds."""
    changes = tuple(records)
    after = image.apply(changes)
    if after.configs is image.configs:
        return changes
    return (*changes, *no_longer_eligible(after))


def no_longer_eligible(image: ClusterImage) -> tuple[PartitionChangeRecord, ...]:
    """Eligible replicas of partitions whose in-sync set is large enough to go on without them."""
    return tuple(
        PartitionChangeRecord(partition_id=index, topic_id=topic.topic_id, eligible_leader_replicas=())
        for topic, index, partition in partitions_of(image)
        if partition.eligible_leader_replicas
        and len(partition.isr) >= topic_rules(image, topic.name).min_isr(settled_replica_count(partition))
    )
