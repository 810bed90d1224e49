"""Producers that go on through every crash, and remember exactly what was acknowledged.

Each writer numbers its records from zero, so a partition's content can be checked without a second copy of
it: every acknowledged number must stand at its acknowledged offset, and numbers must rise.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from confluent_kafka import KafkaError, Message, Producer
from tests.broker_process import wait_until
from tests.raw_kafka import PRODUCE, Connection, produce_body, read_produce, request_frame, values_batch

IN_FLIGHT = 5
RECONNECT_SECONDS = 0.02
PADDING = b"." * 120


def value_of(number: int) -> bytes:
    return b"%d" % number + PADDING


def number_of(value: bytes | None) -> int:
    assert value is not None
    assert value.endswith(PADDING), "not what any writer wrote"
    return int(value[: -len(PADDING)])


class Writer(Protocol):
    """What a crash test needs to know of a writer."""

    topic: str
    partitions: int
    acknowledged: list[tuple[int, int, int]]
    """(partition, offset, number)"""

    def start(self) -> None: ...

    def finish(self) -> None:
        """Stop, after everything that is still to be sent has been acknowledged."""

    def check(self, partition: int, numbers: Sequence[int]) -> None:
        """Whether this content of a partition is one that this writer's promise allows."""


class PipelinedWriter:
    """Raw produce requests, several in flight on one connection, to partition 0.

    A plain one gives up what was in flight when the connection broke; an idempotent one sends it again with
    the same sequence numbers until it is acknowledged.
    """

    def __init__(self, bootstrap: str, topic: str, *, acks: int, is_idempotent: bool) -> None:
        self.topic = topic
        self.partitions = 1
        self.acknowledged: list[tuple[int, int, int]] = []
        self.refusals: list[tuple[int, int]] = []
        self._bootstrap = bootstrap
        self._acks = acks
        self._is_idempotent = is_idempotent
        self._producer_id, self._epoch = self._producer_id_and_epoch()
        self._next_number = 0
        self._unacknowledged: deque[int] = deque()
        self._is_finishing = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"writer of {topic}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._is_finishing.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), f"the writer of {self.topic} hangs"
        if self._failure is not None:
            raise self._failure
        assert not self.refusals, f"{self.topic} refused (number, error code): {self.refusals[:5]}"

    def check(self, partition: int, numbers: Sequence[int]) -> None:
        if self._is_idempotent:
            assert list(numbers) == list(range(self._next_number)), "lost, repeated or out of order"
        else:
            assert all(a < b for a, b in pairwise(numbers)), "repeated or out of order"

    def _run(self) -> None:
        try:
            while not self._is_done():
                try:
                    with Connection(self._bootstrap, timeout=10) as connection:
                        self._converse(connection)
                except OSError:
                    self._connection_broke()
        except BaseException as failure:
            self._failure = failure

    def _is_done(self) -> bool:
        return self._is_finishing.is_set() and not self._unacknowledged

    def _connection_broke(self) -> None:
        if not self._is_idempotent:
            self._unacknowledged.clear()
        time.sleep(RECONNECT_SECONDS)

    def _converse(self, connection: Connection) -> None:
        in_flight = deque(self._unacknowledged)
        for number in in_flight:
            self._send(connection, number)
        while not self._is_done():
            while len(in_flight) < IN_FLIGHT and not self._is_finishing.is_set():
                in_flight.append(self._take_number())
                self._send(connection, in_flight[-1])
            self._receive(connection, in_flight.popleft())

    def _take_number(self) -> int:
        number, self._next_number = self._next_number, self._next_number + 1
        self._unacknowledged.append(number)
        return number

    def _send(self, connection: Connection, number: int) -> None:
        batch = values_batch(
            value_of(number),
            producer_id=self._producer_id,
            epoch=self._epoch,
            sequence=number if self._is_idempotent else -1,
        )
        body = produce_body(self.topic, 0, batch, acks=self._acks)
        connection.send(request_frame(PRODUCE, 8, body, correlation_id=number))

    def _receive(self, connection: Connection, number: int) -> None:
        answer = read_produce(connection.answer(number))
        self._unacknowledged.popleft()
        if answer.error_code:
            self.refusals.append((number, answer.error_code))
        else:
            self.acknowledged.append((0, answer.base_offset, number))

    def _producer_id_and_epoch(self) -> tuple[int, int]:
        if not self._is_idempotent:
            return -1, -1
        with Connection(self._bootstrap) as connection:
            return connection.init_producer_id()


class LibrdkafkaWriter:
    """confluent-kafka's producer, spreading records over partitions, retrying by itself."""

    BATCH_PAUSE_SECONDS = 0.002

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        partitions: int,
        acks: str,
        is_idempotent: bool,
        answer_ms_max: int = 30_000,
    ) -> None:
        self.topic = topic
        self.partitions = partitions
        self.acknowledged: list[tuple[int, int, int]] = []
        self.errors: list[KafkaError] = []
        self._is_idempotent = is_idempotent
        self._next_numbers = [0] * partitions
        self._is_finishing = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "log_level": 0,
                "acks": acks,
                "enable.idempotence": is_idempotent,
                "linger.ms": 2,
                "batch.size": 10_000,
                "retries": 1_000_000,
                "retry.backoff.ms": 20,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 100,
                "request.timeout.ms": answer_ms_max,
                "socket.timeout.ms": 2 * answer_ms_max,
                "topic.metadata.refresh.interval.ms": answer_ms_max,
                "message.timeout.ms": 120_000,
                "queue.buffering.max.messages": 2000,
            }
        )
        self._thread = threading.Thread(target=self._run, name=f"writer of {topic}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._is_finishing.set()
        self._thread.join(90)
        assert not self._thread.is_alive(), f"the writer of {self.topic} hangs"
        assert not self.errors, self.errors[:3]

    def check(self, partition: int, numbers: Sequence[int]) -> None:
        wanted = list(range(self._next_numbers[partition]))
        if self._is_idempotent:
            assert list(numbers) == wanted, "lost, repeated or out of order"
        else:  # At least once: retries may repeat.
            assert sorted(set(numbers)) == wanted

    def _run(self) -> None:
        while not self._is_finishing.is_set():
            for partition in range(self.partitions):
                self._produce(partition)
            self._producer.poll(self.BATCH_PAUSE_SECONDS)
        if self._producer.flush(60):
            self.errors.append(KafkaError(KafkaError._TIMED_OUT))

    def _produce(self, partition: int) -> None:
        number = self._next_numbers[partition]
        try:
            self._producer.produce(
                self.topic, value_of(number), partition=partition, on_delivery=self._on_delivery
            )
        except BufferError:
            self._producer.poll(0.05)
            return
        self._next_numbers[partition] = number + 1

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.errors.append(error)
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        if offset is None:
            # The answer to a later batch says that this one is stored, not where: ``check`` looks for it.
            assert self._is_idempotent
            return
        self.acknowledged.append((partition, offset, number_of(message.value())))


def wait_for_progress(writers: Sequence[Writer], count: int) -> None:
    """Until every writer is served again and so many more records are acknowledged."""
    before = [len(writer.acknowledged) for writer in writers]

    def has_progressed() -> bool:
        now = [len(writer.acknowledged) for writer in writers]
        return sum(now) >= sum(before) + count and all(a < b for a, b in zip(before, now, strict=True))

    wait_until(
        has_progressed,
        what=f"{count} more acknowledgements and progress of every writer",
        seconds=60,
        every_seconds=0.002,
    )


def check_stored(bootstrap: str, writers: Sequence[Writer]) -> None:
    """Every partition's content is one that its writer's promise allows."""
    with Connection(bootstrap) as raw:
        for writer in writers:
            for partition in range(writer.partitions):
                values = raw.fetch_values(writer.topic, partition)
                writer.check(partition, [number_of(value) for value in values])
