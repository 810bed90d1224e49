"""The name of a partition, and how callers may write it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_INVALID
from confluent_kafka import TopicPartition as RawPartition

from penstock.client.errors import ConfigurationError

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


class TopicPartition(NamedTuple):
    """A topic and the number of a partition; equal to the plain pair of both."""

    topic: str
    partition: int


Offsets = Mapping[tuple[str, int], int] | Mapping[TopicPartition, int]
"""An offset per partition."""


def partition_of(raw: Any) -> TopicPartition:
    """As librdkafka names it."""
    return TopicPartition(raw.topic, raw.partition)


def raw_partitions(partitions: Iterable[tuple[str, int]], offset: int = OFFSET_INVALID) -> list[Any]:
    """As librdkafka wants them, all with one offset."""
    return [RawPartition(*checked_partition(each), offset) for each in partitions]


def raw_offsets(offsets: Offsets) -> list[Any]:
    """As librdkafka wants them, each with its offset."""
    return [
        RawPartition(*checked_partition(where), _checked_offset(offset)) for where, offset in offsets.items()
    ]


def checked_partition(given: tuple[str, int]) -> TopicPartition:
    """Refuse what is no pair of topic and number."""
    if (
        not isinstance(given, tuple)
        or len(given) != 2
        or not isinstance(given[0], str)
        or not isinstance(given[1], int)
        or not 0 <= given[1] <= INT32_MAX
    ):
        raise ConfigurationError(
            f"{given!r} is no partition: give pairs of topic and number such as ('orders', 0)"
        )
    return TopicPartition(*given)


def _checked_offset(given: int) -> int:
    """Refuse what librdkafka cannot hold; what is below 0 are its names of places."""
    if not isinstance(given, int) or not -INT64_MAX <= given <= INT64_MAX:
        raise ConfigurationError(f"{given!r} is no offset: give a whole number")
    return given
