"""A week of records in a topic, made and read with somebody else's client."""

import random
from typing import NamedTuple

from confluent_kafka import OFFSET_BEGINNING, TIMESTAMP_CREATE_TIME, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
MONDAY_MS = 1_769_990_400_000 - 2 * DAY_MS
"""2026-01-31 00:00 UTC."""

DAYS = 7
HOURS = (0, 13)
"""Of one day and of the next: Spark takes its time for every directory that it writes."""


class Record(NamedTuple):
    """All that a record has but its offset."""

    partition: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def week(count: int, *, partitions: int, days: int = DAYS, seed: int = 1) -> list[Record]:
    """Records in the order of their times, with all kinds of keys, values and headers."""
    choose = random.Random(seed)
    return [_record(number, choose, count=count, partitions=partitions, days=days) for number in range(count)]


def _record(number: int, choose: random.Random, *, count: int, partitions: int, days: int) -> Record:
    day, place = divmod(number * days, count)
    return Record(
        partition=choose.randrange(partitions),
        timestamp_ms=MONDAY_MS + day * DAY_MS + HOURS[day % 2] * HOUR_MS + place * HOUR_MS // count,
        key=choose.choice([None, b"", b"k%d" % (number % 11)]),
        value=choose.choice([None, b"", b"v%d" % number, b"v%d" % number, bytes(range(256))]),
        headers=choose.choice([(), (), (("a", b"1"),), (("a", b"1"), ("a", None), ("b", b""))]),
    )


def produce(bootstrap: str, topic: str, records: list[Record]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50})
    for record in records:
        producer.produce(
            topic,
            partition=record.partition,
            key=record.key,
            value=record.value,
            timestamp=record.timestamp_ms,
            headers=list(record.headers),
        )
        producer.poll(0)
    assert producer.flush(30) == 0


def consume(bootstrap: str, topic: str, *, partitions: int) -> dict[int, list[Record]]:
    """All records of each partition that are committed, in their order."""
    return {number: _consume_partition(bootstrap, topic, number) for number in range(partitions)}


def _consume_partition(bootstrap: str, topic: str, number: int) -> list[Record]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING)])
    found: list[Record] = []
    while True:
        message = consumer.poll(30)
        assert message is not None, f"{topic}-{number} is silent after {len(found)} records"
        if message.error():
            assert message.error().name() == "_PARTITION_EOF", message.error()
            break
        kind, timestamp_ms = message.timestamp()
        assert kind == TIMESTAMP_CREATE_TIME
        headers = tuple(message.headers() or ())
        found.append(Record(number, timestamp_ms, message.key(), message.value(), headers))
    consumer.close()
    return found


def by_partition(records: list[Record], *, partitions: int) -> dict[int, list[Record]]:
    return {
        number: [record for record in records if record.partition == number] for number in range(partitions)
    }


def create_topic(bootstrap: str, topic: str, *, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    # Timestamps of January are kept, whenever this runs.
    settings = {"retention.ms": "-1"}
    for future in admin.create_topics([NewTopic(topic, partitions, config=settings)]).values():
        future.result(30)


def delete_topic(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.delete_topics([topic]).values():
        future.result(30)
