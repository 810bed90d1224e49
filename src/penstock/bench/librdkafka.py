"""The same volumes through librdkafka, by way of confluent-kafka: what a real client gets out of a broker.

The client is part of what is measured here: every record crosses from Python to C or back, and a consumer
makes an object of each. So records are handed over in lists where the client can take them, successes are not
reported one by one, and Python's garbage collector, which would look at every one of those objects, is off.
"""

import gc
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.bench.errors import BenchError
from penstock.bench.measurement import Measurement
from penstock.bench.progress import Progress, silent
from penstock.bench.topics import BenchPartition, offsets

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message, Producer

_NANOSECONDS = 1_000_000_000
_RECORDS_PER_CALL = 1_000
_QUEUE_RECORDS_MAX = 200_000
_STALL_SECONDS_MAX = 30.0
_FLUSH_SECONDS_MAX = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLoad:
    """How to load."""

    name: str
    bootstrap_server: str
    record_bytes: int = 100
    acks: str = "all"
    batch_bytes: int = 1_000_000
    compression: str = "none"
    linger_ms: float = 5.0
    records: int = 2_000_000


def measure_client_produce(
    partitions: Sequence[BenchPartition], load: ClientLoad, progress: Progress = silent
) -> Measurement:
    """Send ``load.records`` records, spread over the partitions, until the last is acknowledged."""
    from confluent_kafka import Producer

    producer = Producer(
        {
            "bootstrap.servers": load.bootstrap_server,
            "acks": load.acks,
            "linger.ms": load.linger_ms,
            "compression.type": load.compression,
            "batch.size": load.batch_bytes,
            "batch.num.messages": 100_000,
            "queue.buffering.max.messages": _QUEUE_RECORDS_MAX,
            "delivery.report.only.error": True,
            "log_level": 0,
        }
    )
    before = _end_offsets(partitions)
    sender = _Sender(producer, partitions, load)
    with _no_garbage_collection():
        started_ns = time.monotonic_ns()
        sender.send_all(progress)
        elapsed_ns = time.monotonic_ns() - started_ns
    if (arrived := _end_offsets(partitions) - before) < sender.sent:
        raise BenchError(f"Of {sender.sent} records sent through librdkafka {arrived} arrived.")
    return Measurement(
        name=load.name,
        client="librdkafka",
        records=sender.sent,
        bytes=sender.sent * load.record_bytes,
        seconds=elapsed_ns / _NANOSECONDS,
    )


class _Sender:
    """Keeps librdkafka's queue full and remembers the first failure."""

    def __init__(self, producer: "Producer", partitions: Sequence[BenchPartition], load: ClientLoad) -> None:
        self._producer = producer
        self._topic = partitions[0].topic
        self._numbers = [partition.number for partition in partitions]
        self._load = load
        self._value = secrets.token_bytes(load.record_bytes)
        self._problem: KafkaError | None = None
        self.sent = 0

    def send_all(self, progress: Progress) -> None:
        """Send every record, turn by turn to each partition, and wait for the last acknowledgement."""
        send = self._send_list if hasattr(self._producer, "produce_batch") else self._send_singly
        while self.sent < self._load.records:
            self._wait_for_room()
            send(self._numbers[self.sent // _RECORDS_PER_CALL % len(self._numbers)])
            progress(self.sent / self._load.records)
        if self._producer.flush(_FLUSH_SECONDS_MAX) or self._problem is not None:
            raise BenchError(f"librdkafka could not deliver every record: {self._problem or 'timed out'}.")

    def _send_list(self, number: int) -> None:
        records = [{"value": self._value}] * _RECORDS_PER_CALL
        self.sent += self._producer.produce_batch(
            self._topic, records, partition=number, on_delivery=self._on_delivery
        )

    def _send_singly(self, number: int) -> None:
        """For clients before ``produce_batch``."""
        produce, topic, value = self._producer.produce, self._topic, self._value
        for _ in range(_RECORDS_PER_CALL):
            produce(topic, value, None, number, self._on_delivery)
        self.sent += _RECORDS_PER_CALL

    def _wait_for_room(self) -> None:
        deadline = time.monotonic() + _STALL_SECONDS_MAX
        self._producer.poll(0)
        while len(self._producer) > _QUEUE_RECORDS_MAX - _RECORDS_PER_CALL:
            self._producer.poll(0.001)
            if time.monotonic() > deadline or self._problem is not None:
                raise BenchError(f"librdkafka cannot deliver: {self._problem or 'no progress'}.")

    def _on_delivery(self, problem: "KafkaError | None", message: "Message") -> None:
        if problem is not None and self._problem is None:
            self._problem = problem


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _end_offsets(partitions: Sequence[BenchPartition]) -> int:
    return sum(end for _, end in offsets(partitions))


def measure_client_consume(
    partitions: Sequence[BenchPartition], load: ClientLoad, progress: Progress = silent
) -> Measurement:
    """Read everything that is there when it begins, with partitions assigned by hand."""
    from confluent_kafka import Consumer, TopicPartition

    bounds = offsets(partitions)
    total = sum(end - start for start, end in bounds)
    consumer = Consumer(
        {
            "bootstrap.servers": load.bootstrap_server,
            "group.id": "penstock-bench",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "check.crcs": False,
            "queued.min.messages": 1_000_000,
            "fetch.message.max.bytes": 1024 * 1024,
            "log_level": 0,
        }
    )
    try:
        started_ns = time.monotonic_ns()
        consumer.assign(
            [
                TopicPartition(partition.topic, partition.number, start)
                for partition, (start, _) in zip(partitions, bounds, strict=True)
            ]
        )
        with _no_garbage_collection():
            size = _read_all(consumer, total, progress)
        elapsed_ns = time.monotonic_ns() - started_ns
    finally:
        consumer.close()
    return Measurement(
        name=load.name, client="librdkafka", records=total, bytes=size, seconds=elapsed_ns / _NANOSECONDS
    )


def _read_all(consumer: "Consumer", total: int, progress: Progress) -> int:
    """The size of all values, which are taken to be as large as each call's first."""
    received = size = 0
    deadline = time.monotonic() + _STALL_SECONDS_MAX
    while received < total:
        messages: list[Any] = consumer.consume(_RECORDS_PER_CALL, 0.1)
        if messages:
            deadline = time.monotonic() + _STALL_SECONDS_MAX
            received += _count(messages)
            size += len(messages) * len(messages[0])
            progress(received / total)
        elif time.monotonic() > deadline:
            raise BenchError(f"librdkafka read {received} of {total} records and then nothing more.")
    return size


def _count(messages: Sequence["Message"]) -> int:
    from confluent_kafka import Message

    if any(map(Message.error, messages)):
        problem = next(filter(None, map(Message.error, messages)))
        raise BenchError(f"librdkafka could not read: {problem.str()}.")
    return len(messages)
