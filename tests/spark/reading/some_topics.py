"""Topics with something in them, made with somebody else's client, for tests of reading."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

Headers = Sequence[tuple[str, bytes | None]]
BIG_LINGER_MS = 50


def produce(
    bootstrap: str,
    topic: str,
    values: Iterable[bytes | None],
    *,
    partition: int = 0,
    settings: Mapping[str, Any] | None = None,
    **fields: Any,
) -> None:
    """Write values to one partition; ``fields`` are those of ``Producer.produce``."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": BIG_LINGER_MS, **(settings or {})})
    for value in values:
        producer.produce(topic, value=value, partition=partition, **fields)
        producer.poll(0)
    assert producer.flush(30) == 0


def numbered(count: int, start: int = 0) -> list[bytes]:
    """Values that say which they are."""
    return [b"value-%06d" % number for number in range(start, start + count)]


def write_in_transaction(
    bootstrap: str, topic: str, values: Iterable[bytes], *, commits: bool, partition: int = 0
) -> None:
    """Write values in one transaction, and end it one way or the other."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"writer-of-{topic}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value=value, partition=partition)
    assert producer.flush(30) == 0
    if commits:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)


@contextmanager
def open_transaction(bootstrap: str, topic: str, values: Iterable[bytes]) -> Iterator[None]:
    """Values in partition 0 whose transaction is open for as long as the block takes, and committed then."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"slow-writer-of-{topic}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value=value, partition=0)
    assert producer.flush(30) == 0
    yield
    producer.commit_transaction(30)


def delete_records(bootstrap: str, topic: str, before: int, *, partition: int = 0) -> None:
    """Let a partition begin at offset ``before``."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    futures = admin.delete_records([TopicPartition(topic, partition, before)])
    for future in futures.values():
        future.result(30)


def add_partitions(bootstrap: str, topic: str, total: int) -> None:
    """Let a topic have ``total`` partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_partitions([NewPartitions(topic, total)]).values():
        future.result(30)
