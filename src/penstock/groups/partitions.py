"""Partitions by the ids of their topics, as consumer groups speak of them.

A topic that is deleted and made again under its name has another id: nobody who held the old one's
partitions holds those of the new one.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from penstock.model.ids import TopicId


class TopicIdPartition(NamedTuple):
    """A partition by its topic's id."""

    topic_id: TopicId
    partition: int


Partitions: TypeAlias = frozenset[TopicIdPartition]

NO_PARTITIONS: Partitions = frozenset()

Held: TypeAlias = Mapping[TopicIdPartition, int]
"""Partitions that a member has, each with the epoch it was given at."""

NOTHING_HELD: Held = MappingProxyType({})


class PartitionsOfTopic(Protocol):
    """What messages and records say about one topic."""

    @property
    def topic_id(self) -> TopicId:
        """The topic."""

    @property
    def partitions(self) -> tuple[int, ...]:
        """Which of its partitions."""


def flatten(topics: Iterable[PartitionsOfTopic]) -> Partitions:
    """The partitions of a message or record."""
    return frozenset(
        TopicIdPartition(topic.topic_id, partition) for topic in topics for partition in topic.partitions
    )


def by_topic(partitions: Iterable[TopicIdPartition]) -> list[tuple[TopicId, tuple[int, ...]]]:
    """Partitions in the shape of messages and records, in a fixed order."""
    return [
        (topic_id, tuple(each.partition for each in of_topic))
        for topic_id, of_topic in groupby(sorted(partitions), key=_topic_id)
    ]


def _topic_id(partition: TopicIdPartition) -> TopicId:
    return partition.topic_id
