"""Which partition a record goes to, unless it says so itself.

librdkafka computes the usual one; others are functions of ours or the caller's, for which the number of
partitions must be known before the record is sent.
"""

import itertools
import zlib
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from penstock.client.errors import ConfigurationError

PartitionerFunction = Callable[[str, bytes | None, int], int]
"""Takes topic, key as bytes and number of partitions; the partition."""


class Partitioner(StrEnum):
    """The ways we know."""

    MURMUR2 = "murmur2"
    """As Kafka's Java client: by hash of the key; without one, a partition for as long as a batch takes."""

    MODULO = "modulo"
    """A key that is a decimal number modulo the number of partitions, others by CRC-32; in turn if none."""

    ROUND_ROBIN = "round_robin"
    """Each partition in turn, whatever the key."""

    @property
    def librdkafka_name(self) -> str:
        """What librdkafka calls it; empty if it does not have it."""
        return "murmur2_random" if self is Partitioner.MURMUR2 else ""

    def function(self) -> PartitionerFunction | None:
        """A new function that chooses; None where librdkafka does."""
        makers: dict[Partitioner, Callable[[], PartitionerFunction]] = {
            Partitioner.MODULO: Modulo,
            Partitioner.ROUND_ROBIN: RoundRobin,
        }
        maker = makers.get(self)
        return None if maker is None else maker()


class RoundRobin:
    """Each partition of a topic in turn."""

    def __init__(self) -> None:
        self._turns: dict[str, itertools.count[int]] = {}

    def __call__(self, topic: str, key: bytes | None, partition_count: int) -> int:
        """The next one."""
        return next(self._turns.setdefault(topic, itertools.count())) % partition_count


class Modulo:
    """Numbers modulo the number of partitions."""

    def __init__(self) -> None:
        self._in_turn = RoundRobin()

    def __call__(self, topic: str, key: bytes | None, partition_count: int) -> int:
        """The one of this key; the next one without a key."""
        if key is None:
            return self._in_turn(topic, key, partition_count)
        number = int(key) if key.isdigit() else zlib.crc32(key)
        return number % partition_count


def partitioner(name: str, value: Any) -> Partitioner | PartitionerFunction:
    """The rule of such a setting: a member, its value, or a function."""
    if isinstance(value, str) and value in list(Partitioner):
        return Partitioner(value)
    if isinstance(value, str) or not callable(value):
        choices = ", ".join(f"Partitioner.{member.name}" for member in Partitioner)
        allowed = f"it must be {choices} or a function (topic, key, partition_count) -> int"
        raise ConfigurationError(f"{name}={value!r} is not allowed: {allowed}", setting=name)
    return value  # type: ignore[no-any-return]
