"""A whole image as records, so that the metadata log before it can go.

Two images that are equal have the same records, byte for byte, in whatever order they came about: everything
is sorted. So one short fingerprint tells whether two brokers believe the same.
"""

from collections.abc import Iterator
from hashlib import sha256

from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    TopicRecord,
    encode_record,
)
from penstock.metadata.topic_image import PartitionImage, TopicImage


def snapshot_records(image: ClusterImage) -> Iterator[MetadataRecord]:
    """Records that make an empty image into this one."""
    for name in sorted(image.features):
        yield FeatureLevelRecord(name=name, feature_level=image.features[name])
    for node_id in sorted(image.brokers):
        yield _broker(image.brokers[node_id])
    for name in sorted(image.topics):
        yield from _topic(image.topics[name])
    for resource in sorted(image.configs):
        for key, value in sorted(image.configs[resource].items()):
            yield ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=key, value=value
            )
    if image.next_producer_id:
        yield ProducerIdsRecord(broker_id=-1, next_producer_id=image.next_producer_id)


def image_fingerprint(image: ClusterImage) -> str:
    """The same for equal images, and for no others; as hexadecimal digits."""
    digest = sha256()
    for record in snapshot_records(image):
        frame = encode_record(record)
        digest.update(len(frame).to_bytes(4, "big"))
        digest.update(frame)
    return digest.hexdigest()


def _broker(broker: BrokerImage) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker.node_id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=broker.endpoints,
        features=broker.features,
        rack=broker.rack,
        fenced=broker.is_fenced,
        in_controlled_shutdown=broker.is_in_controlled_shutdown,
        log_dirs=broker.directories,
        cordoned_log_dirs=broker.cordoned_directories or None,
    )


def _topic(topic: TopicImage) -> Iterator[MetadataRecord]:
    yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
    for index, partition in enumerate(topic.partitions):
        yield _partition(topic, index, partition)


def _partition(topic: TopicImage, index: int, partition: PartitionImage) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic.topic_id,
        replicas=partition.replicas,
        isr=partition.isr,
        removing_replicas=partition.removing_replicas,
        adding_replicas=partition.adding_replicas,
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=partition.directories,
        eligible_leader_replicas=partition.eligible_leader_replicas or None,
        last_known_elr=partition.last_known_elr or None,
    )
