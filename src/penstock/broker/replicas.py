"""The partitions this broker holds, kept in step with the cluster image."""

from collections.abc import Iterator
from typing import TypeVar

from penstock.broker.partition import Partition
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic_image import TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicId, TopicPartition

Key = TypeVar("Key")


class Replicas:
    """Finds partitions by topic name or topic id."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[int, Partition]] = {}
        self._by_id: dict[bytes, dict[int, Partition]] = {}
        #: Partitions that should be here but whose files cannot be opened, and why.
        self.unavailable: dict[TopicPartition, str] = {}
        #: Says whether a partition that is not here is elsewhere.
        self.image = ClusterImage()

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._by_name.values():
            yield from partitions.values()

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def by_name(self, topic: str, index: int) -> Partition:
        """The partition; NOT_LEADER_OR_FOLLOWER when it is elsewhere, or UNKNOWN_TOPIC_OR_PARTITION."""
        try:
            return self._by_name[topic][index]
        except KeyError:
            raise self._missing(self.image.topics.get(topic), TopicPartition(topic, index)) from None

    def by_id(self, topic_id: bytes, index: int) -> Partition:
        """The partition; UNKNOWN_TOPIC_ID when the topic is unknown, since the client's metadata is stale."""
        try:
            return self._by_id[topic_id][index]
        except KeyError:
            topic = self.image.topics_by_id.get(TopicId(topic_id))
            if topic is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID) from None
            raise self._missing(topic, TopicPartition(topic.name, index)) from None

    def of_topic(self, topic: str) -> list[Partition]:
        """A topic's partitions held here, in order."""
        return [partition for _, partition in sorted(self._by_name.get(topic, {}).items())]

    def all_by_topic(self) -> dict[str, list[Partition]]:
        """Everything held here."""
        return {topic: self.of_topic(topic) for topic in sorted(self._by_name)}

    def add(self, partition: Partition) -> None:
        """Begin to serve a partition."""
        self.unavailable.pop(TopicPartition(partition.topic, partition.index), None)
        self._by_name.setdefault(partition.topic, {})[partition.index] = partition
        self._by_id.setdefault(partition.topic_id, {})[partition.index] = partition

    def remove(self, partition: Partition) -> None:
        """Serve a partition no longer; whoever waits for it is answered."""
        is_elsewhere = TopicId(partition.topic_id) in self.image.topics_by_id
        partition.abandon(
            ErrorCode.NOT_LEADER_OR_FOLLOWER if is_elsewhere else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        _remove(self._by_name, partition.topic, partition)
        _remove(self._by_id, partition.topic_id, partition)

    def forget_unavailable(self, topic: str) -> None:
        """A topic is gone, with those of its partitions that could not be opened."""
        for name in [each for each in self.unavailable if each.topic == topic]:
            del self.unavailable[name]

    def _missing(self, topic: TopicImage | None, name: TopicPartition) -> ApiError:
        if name in self.unavailable:
            return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "The partition's files cannot be opened.")
        if topic is not None and 0 <= name.partition < len(topic.partitions):
            return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _remove(partitions: dict[Key, dict[int, Partition]], key: Key, partition: Partition) -> None:
    """Unless another of the same name has taken its place."""
    of_topic = partitions.get(key, {})
    if of_topic.get(partition.index) is partition:
        del of_topic[partition.index]
        if not of_topic:
            del partitions[key]
