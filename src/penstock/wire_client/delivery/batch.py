"""A record batch on its way to a partition."""

from dataclasses import dataclass

from penstock.model.ids import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Encoded records with their producer and sequences; the same bytes are sent however often it takes."""

    partition: TopicPartition
    data: bytes
    record_count: int
