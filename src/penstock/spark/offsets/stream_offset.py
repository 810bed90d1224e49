"""What a streaming query remembers of a source, as JSON in its checkpoint.

The layout is that of Spark's Kafka connector, ``{"topic":{"0":23,"1":42}}``: the next offset of each
partition. Two things stand beside the topics, each as a key whose object is empty. No topic can have such a
name, and the connector reads an object without partitions as nothing at all, so it can go on from our
checkpoints, and we from its::

    "@id orders J7s4BmxSQJ6IbyGYzCKkEw": {}          the id of the topic, so that one made anew is noticed
    "@group spark-kafka-source-5f0c2ad1": {}         the consumer group that follows this query
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition

_ID = "@id"
_GROUP = "@group"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOffset:
    """The next offset of each partition, the ids of the topics as far as known, and the group if any."""

    offsets: Mapping[TopicPartition, int]
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    group_id: str | None = None

    def as_json(self) -> dict[str, dict[str, int]]:
        """As Spark keeps it; equal offsets are equal texts, since Spark compares those."""
        document: dict[str, dict[str, int]] = {}
        for partition in sorted(self.offsets):
            document.setdefault(partition.topic, {})[str(partition.partition)] = self.offsets[partition]
        for topic in sorted(self.topic_ids):
            document[f"{_ID} {topic} {self.topic_ids[topic]}"] = {}
        if self.group_id is not None:
            document[f"{_GROUP} {self.group_id}"] = {}
        return document

    @property
    def topics(self) -> set[str]:
        """All topics in it."""
        return {partition.topic for partition in self.offsets}


def parse_stream_offset(document: Mapping[str, Any]) -> StreamOffset:
    """What ``as_json`` wrote, or the connector."""
    offsets: dict[TopicPartition, int] = {}
    topic_ids: dict[str, str] = {}
    group_id: str | None = None
    for key, partitions in document.items():
        words = key.split(" ")
        if words[0] == _ID and len(words) == 3:
            topic_ids[words[1]] = words[2]
        elif words[0] == _GROUP and len(words) > 1:
            group_id = key.removeprefix(f"{_GROUP} ")
        else:
            offsets |= _partitions(key, partitions)
    return StreamOffset(offsets=offsets, topic_ids=topic_ids, group_id=group_id)


def _partitions(topic: str, partitions: Any) -> dict[TopicPartition, int]:
    if not isinstance(partitions, dict):
        raise UsageError(
            f"The checkpoint has {partitions!r} for topic {topic!r} where offsets by partition belong: "
            "it is not one of this data source or of Spark's Kafka connector."
        )
    return {TopicPartition(topic, int(number)): int(offset) for number, offset in partitions.items()}
