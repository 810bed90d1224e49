"""What the cluster believes: brokers, topics, partitions, settings. An image never changes.

``ClusterImage.apply`` makes the next image out of records; it is the only way to get one, at start and while
running alike. Records come from the metadata log, so one that makes no sense is a bug or a damaged log and
raises ``InvariantError``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from penstock.metadata.broker_image import BrokerImage, registered_broker
from penstock.metadata.records import (
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
)
from penstock.metadata.resources import ALL_BROKERS, ConfigResource, ResourceType
from penstock.metadata.topic_image import PartitionImage, TopicImage, changed_partition, new_partition
from penstock.model.errors import InvariantError
from penstock.model.ids import NodeId, TopicId
from penstock.model.names import metric_name

NO_CONFIGS: Mapping[str, str] = {}


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
        """The image after ``records``. Give many at once: every call copies what it changes."""
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

    def live_brokers(self) -> tuple[BrokerImage, ...]:
        """Brokers that are not fenced, in the order of their ids."""
        return tuple(self.brokers[id] for id in sorted(self.brokers) if not self.brokers[id].is_fenced)


class _Changes:
    """An image in the making."""

    def __init__(self, image: ClusterImage) -> None:
        self._brokers = dict(image.brokers)
        self._topics = dict(image.topics)
        self._by_id = dict(image.topics_by_id)
        self._metric_names = dict(image.metric_names)
        self._configs = dict(image.configs)
        self._features = dict(image.features)
        self._next_producer_id = image.next_producer_id
        self._partition_count = image.partition_count
        #: Partitions of the topics that these records touch; written back once, at the end.
        self._drafts: dict[TopicId, list[PartitionImage]] = {}

    def image(self) -> ClusterImage:
        for topic_id in list(self._drafts):
            self._write_back(topic_id)
        return ClusterImage(
            brokers=self._brokers,
            topics=self._topics,
            topics_by_id=self._by_id,
            metric_names=self._metric_names,
            configs=self._configs,
            features=self._features,
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
                self._brokers[NodeId(record.broker_id)] = registered_broker(record)
            case FeatureLevelRecord():
                self._features[record.name] = record.feature_level
            case ProducerIdsRecord():
                self._move_producer_ids(record)
            case NoOpRecord():
                pass
            case _:
                assert_never(record)

    def _add_topic(self, record: TopicRecord) -> None:
        if record.name in self._topics or record.topic_id in self._by_id:
            raise InvariantError(f"topic {record.name} is made a second time")
        topic = TopicImage(name=record.name, topic_id=record.topic_id, partitions=())
        self._topics[record.name] = self._by_id[record.topic_id] = topic
        self._metric_names[metric_name(record.name)] = record.name

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        topic = self._topic(record.topic_id)
        self._partition_count -= len(self._partitions(record.topic_id))
        del self._drafts[record.topic_id], self._topics[topic.name], self._by_id[record.topic_id]
        self._metric_names.pop(metric_name(topic.name), None)
        self._configs.pop(ConfigResource(ResourceType.TOPIC, topic.name), None)

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
        values = dict(self._configs.get(resource, {}))
        if record.value is None:
            values.pop(record.name, None)
        else:
            values[record.name] = record.value
        if values:
            self._configs[resource] = values
        else:
            self._configs.pop(resource, None)

    def _move_producer_ids(self, record: ProducerIdsRecord) -> None:
        if record.next_producer_id <= self._next_producer_id:
            raise InvariantError(
                f"producer ids go back from {self._next_producer_id} to {record.next_producer_id}"
            )
        self._next_producer_id = record.next_producer_id

    def _topic(self, topic_id: TopicId) -> TopicImage:
        if topic_id not in self._by_id:
            raise InvariantError(f"topic {topic_id.hex()} does not exist")
        return self._by_id[topic_id]

    def _partitions(self, topic_id: TopicId) -> list[PartitionImage]:
        if topic_id not in self._drafts:
            self._drafts[topic_id] = list(self._topic(topic_id).partitions)
        return self._drafts[topic_id]

    def _write_back(self, topic_id: TopicId) -> None:
        topic = replace(self._by_id[topic_id], partitions=tuple(self._drafts[topic_id]))
        self._topics[topic.name] = self._by_id[topic_id] = topic
