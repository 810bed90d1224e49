"""A broker makes itself known: who it is, where it listens, and what it can do."""

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    BrokerEndpoint,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
)
from penstock.metadata.result import Result
from penstock.model.ids import NodeId

FEATURES = {"metadata.version": 7, "group.version": 1, "transaction.version": 2}
"""What this version runs at; level 7 is the lowest Kafka 4 knows. More follow with what they stand for."""


def register_broker(
    image: ClusterImage,
    *,
    node_id: NodeId,
    incarnation_id: bytes,
    endpoints: tuple[BrokerEndpoint, ...],
    rack: str | None,
    directory_id: bytes,
    has_kept_everything: bool,
) -> Result[int]:
    """Records that make a started broker known; the response is its epoch, larger than any before.

    A broker that did not stop in good order may have lost what it had not flushed, which readers may have
    seen where a topic allows that. So the partitions it leads begin a new leader epoch: by it a reader can
    tell that what it read is gone (KIP-320).
    """
    known = image.brokers.get(node_id)
    epoch = 0 if known is None else known.epoch + 1
    registration = RegisterBrokerRecord(
        broker_id=node_id,
        incarnation_id=incarnation_id,
        broker_epoch=epoch,
        end_points=endpoints,
        rack=rack,
        fenced=False,
        log_dirs=(directory_id,),
    )
    features: list[MetadataRecord] = [
        FeatureLevelRecord(name=name, feature_level=level)
        for name, level in FEATURES.items()
        if image.features.get(name) != level
    ]
    elections = [] if has_kept_everything else _new_epochs(image, node_id)
    return Result(records=(*features, registration, *elections), response=epoch)


def _new_epochs(image: ClusterImage, node_id: NodeId) -> list[MetadataRecord]:
    """The broker elected once more, in every partition it leads."""
    return [
        PartitionChangeRecord(partition_id=index, topic_id=topic.topic_id, leader=node_id)
        for topic in image.topics.values()
        for index, partition in enumerate(topic.partitions)
        if partition.leader == node_id
    ]
