"""The partitions this broker holds, kept in step with the cluster image."""

from collections.abc import Iterator

from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicPartition


class Replicas:
    """Finds partitions by topic name or topic id."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[int, Partition]] = {}
        self._by_id: dict[bytes, dict[int, Partition]] = {}
        #: Partitions that should be here but whose files cannot be opened, and why.
        self.unavailable: dict[TopicPartition, str] = {}

    def __iter__(self) -> Iterator[Partition]:
        for partitions in self._by_name.values():
            yield from partitions.values()

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def by_name(self, topic: str, index: int) -> Partition:
        """The partition, or UNKNOWN_TOPIC_OR_PARTITION."""
        try:
            return self._by_name[topic][index]
        except KeyError:
            raise self._missing(topic, index) from None

    def by_id(self, topic_id: bytes, index: int) -> Partition:
        """The partition; UNKNOWN_TOPIC_ID when the topic is unknown, since the client's metadata is stale."""
        partitions = self._by_id.get(topic_id)
        if partitions is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        try:
            return partitions[index]
        except KeyError:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) from None

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

    def remove_topic(self, topic: str) -> list[Partition]:
        """Serve a topic no longer; whoever waits for its partitions is answered."""
        removed = self.of_topic(topic)
        for partition in removed:
            partition.abandon()
            self._by_id.pop(partition.topic_id, None)
        self._by_name.pop(topic, None)
        for name in [each for each in self.unavailable if each.topic == topic]:
            del self.unavailable[name]
        return removed

    def _missing(self, topic: str, index: int) -> ApiError:
        if TopicPartition(topic, index) in self.unavailable:
            return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "The partition's files cannot be opened.")
        return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
