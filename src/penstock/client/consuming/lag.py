"""How far a consumer is behind."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.client.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Lag:
    """Messages that are there and were not read.

    The marker that ends a transaction counts as one until a message after it is read.
    """

    partitions: Mapping[TopicPartition, int]
    """Of every partition that the consumer has."""

    @property
    def total(self) -> int:
        """Of all of them."""
        return sum(self.partitions.values())
