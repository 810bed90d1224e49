"""What the cluster believes: brokers, topics, partitions, settings. An image never changes.

``ClusterImage.apply`` makes the next image out of records; it is the only way to get one, at start and while
running alike. Records come from the metadata log, so one that makes no sense is a bug or a damaged log and
raises ``InvariantError``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar, assert_never

from penstock.metadata.broker_image import BrokerImage, changed_broker, registered_broker
from penstock.metadata.records import (
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from penstock.metadata.resources import ALL_BROKERS, ConfigResource, ResourceType
from penstock.metadata.topic_image import PartitionImage, TopicImage, changed_partition, new_partition
from penstock.model.errors import InvariantError
from penstock.model.ids import NodeId, TopicId
from penstock.model.names import metric_name

NO_CONFIGS: Mapping[str, str] = {}

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterImage:
    """The whole cluster at one point of the metadata log."""

    brokers: Mapping[NodeId, BrokerImage] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    topics_by_id: Mapping[TopicId, TopicImage] = field(default_factory=dict)
    #: Topic names by what metrics make of them, where '.' and '_' are the same.
    metric_names: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=dict)
    features: Mapping[str, int] = field(default_factory=dict)
    next_producer_id: int = 0
    #: The sum over all topics; a limit is kept on it.
    partition_count: int = 0

    def apply(self, records: Iterable[MetadataRecord]) -> "ClusterImage":
        """The image after ``records``. Give many at once: every call copies what it changes.

        What they do not touch is the very same object in both images, so that ``is`` finds what changed.
        """
        changes = _Changes(self)
        for record in records:
            changes.replay(record)
        return changes.image()

    def topic_configs(self, name: str) -> Mapping[str, str]:
        """What was set on a topic."""
        return self.configs.get(ConfigResource(ResourceType.TOPIC, name), NO_CONFIGS)

    def broker_configs(self, node_id: NodeId) -> Mapping[str, str]:
        """What was set on one broker."""
        return self.configs.get(ConfigResource(ResourceType.BROKER, str(node_id)), NO_CONFIGS)

    def cluster_configs(self) -> Mapping[str, str]:
        """What was set on all brokers at once."""
        return self.configs.get(ALL_BROKERS, NO_CONFIGS)

    def resources_changed_since(self, before: "ClusterImage") -> frozenset[ConfigResource]:
        """Whose settings differ from an earlier image's; found by identity, so it costs little."""
        if self.configs is before.configs:
            return frozenset()
        resources = self.configs.keys() | before.configs.keys()
        return frozenset(each for each in resources if self.configs.get(each) is not before.configs.get(each))

    def live_brokers(self) -> tuple[BrokerImage, ...]:
        """Brokers that are not fenced, in the order of their ids."""
        return tuple(self.brokers[id] for id in sorted(self.brokers) if not self.brokers[id].is_fenced)


class _Draft(Generic[Key, Value]):
    """A mapping that is copied when it is first written to, so that an untouched one stays the very same."""

    __slots__ = ("_copy", "current")

    def __init__(self, original: Mapping[Key, Value]) -> None:
        self.current = original
        self._copy: dict[Key, Value] | None = None

    def writable(self) -> dict[Key, Value]:
        if self._copy is None:
            self._copy = dict(self.current)
            self.current = self._copy
        return self._copy


class _Changes:
    """An image in the making."""

    def __init__(self, image: ClusterImage) -> None:
        self._brokers = _Draft(image.brokers)
        self._topics = _Draft(image.topics)
        self._by_id = _Draft(image.topics_by_id)
        self._metric_names = _Draft(image.metric_names)
        self._configs = _Draft(image.configs)
        self._features = _Draft(image.features)
        self._next_producer_id = image.next_producer_id
        self._partition_count = image.partition_count
        #: Partitions of the topics that these records touch; written back once, at the end.
        self._partition_drafts: dict[TopicId, list[PartitionImage]] = {}

    def image(self) -> ClusterImage:
        for topic_id, partitions in self._partition_drafts.items():
            self._put_topic(replace(self._topic(topic_id), partitions=tuple(partitions)))
        return ClusterImage(
            brokers=self._brokers.current,
            topics=self._topics.current,
            topics_by_id=self._by_id.current,
            metric_names=self._metric_names.current,
            configs=self._configs.current,
            features=self._features.current,
            next_producer_id=self._next_producer_id,
            partition_count=self._partition_count,
        )

    def replay(self, record: MetadataRecord) -> None:
        match record:
            case PartitionRecord():
                self._add_partition(record)
            case PartitionChangeRecord():
                self._change_partition(record)
            case TopicRecord():
                self._add_topic(record)
            case RemoveTopicRecord():
                self._remove_topic(record)
            case ConfigRecord():
                self._set_config(record)
            case RegisterBrokerRecord():
                self._brokers.writable()[NodeId(record.broker_id)] = registered_broker(record)
            case BrokerRegistrationChangeRecord():
                self._change_broker(record)
            case UnregisterBrokerRecord():
                self._broker(record.broker_id, record.broker_epoch)
                del self._brokers.writable()[NodeId(record.broker_id)]
            case FeatureLevelRecord():
                self._set_feature(record)
            case ProducerIdsRecord():
                self._move_producer_ids(record)
            case NoOpRecord():
                pass
            case _:
                assert_never(record)

    def _change_broker(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self._broker(record.broker_id, record.broker_epoch)
        self._brokers.writable()[broker.node_id] = changed_broker(broker, record)

    def _broker(self, node_id: int, epoch: int) -> BrokerImage:
        broker = self._brokers.current.get(NodeId(node_id))
        if broker is None or broker.epoch != epoch:
            raise InvariantError(f"broker {node_id} of epoch {epoch} changes but is not registered so")
        return broker

    def _set_feature(self, record: FeatureLevelRecord) -> None:
        if record.feature_level:
            self._features.writable()[record.name] = record.feature_level
        else:
            self._features.writable().pop(record.name, None)

    def _add_topic(self, record: TopicRecord) -> None:
        if record.name in self._topics.current or record.topic_id in self._by_id.current:
            raise InvariantError(f"topic {record.name} is made a second time")
        self._put_topic(TopicImage(name=record.name, topic_id=record.topic_id, partitions=()))
        self._metric_names.writable()[metric_name(record.name)] = record.name

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        topic = self._topic(record.topic_id)
        self._partition_count -= len(self._partitions(record.topic_id))
        del self._partition_drafts[record.topic_id]
        del self._topics.writable()[topic.name]
        del self._by_id.writable()[record.topic_id]
        self._metric_names.writable().pop(metric_name(topic.name), None)
        self._drop_configs(ConfigResource(ResourceType.TOPIC, topic.name))

    def _add_partition(self, record: PartitionRecord) -> None:
        partitions = self._partitions(record.topic_id)
        if record.partition_id != len(partitions):
            name = self._topic(record.topic_id).name
            raise InvariantError(f"partition {record.partition_id} of {name} follows {len(partitions) - 1}")
        partitions.append(new_partition(record))
        self._partition_count += 1

    def _change_partition(self, record: PartitionChangeRecord) -> None:
        partitions = self._partitions(record.topic_id)
        if not 0 <= record.partition_id < len(partitions):
            name = self._topic(record.topic_id).name
            raise InvariantError(f"partition {record.partition_id} of {name} changes but does not exist")
        partitions[record.partition_id] = changed_partition(partitions[record.partition_id], record)

    def _set_config(self, record: ConfigRecord) -> None:
        resource = ConfigResource(ResourceType(record.resource_type), record.resource_name)
        values = dict(self._configs.current.get(resource, NO_CONFIGS))
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if values:
            self._configs.writable()[resource] = values
        else:
            self._drop_configs(resource)

    def _drop_configs(self, resource: ConfigResource) -> None:
        if resource in self._configs.current:
            del self._configs.writable()[resource]

    def _move_producer_ids(self, record: ProducerIdsRecord) -> None:
        if record.next_producer_id <= self._next_producer_id:
            raise InvariantError(
                f"producer ids go back from {self._next_producer_id} to {record.next_producer_id}"
            )
        self._next_producer_id = record.next_producer_id

    def _topic(self, topic_id: TopicId) -> TopicImage:
        if topic_id not in self._by_id.current:
            raise InvariantError(f"topic {topic_id.hex()} does not exist")
        return self._by_id.current[topic_id]

    def _partitions(self, topic_id: TopicId) -> list[PartitionImage]:
        if topic_id not in self._partition_drafts:
            self._partition_drafts[topic_id] = list(self._topic(topic_id).partitions)
        return self._partition_drafts[topic_id]

    def _put_topic(self, topic: TopicImage) -> None:
        self._topics.writable()[topic.name] = topic
        self._by_id.writable()[topic.topic_id] = topic
