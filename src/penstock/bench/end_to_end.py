"""From the moment a record is due to the moment a consumer holds it, at a fixed rate.

Records are due at even intervals whatever the broker does: a stall makes all records behind it late, as it
would in life, instead of slowing the load down (the mistake known as coordinated omission). The records due
within ``linger_ms`` travel as one batch, sent when its last one is due, so the wait for the batch counts too.
"""

import select
import struct
import time
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from penstock.bench.connection import Connection
from penstock.bench.errors import BenchError, check
from penstock.bench.frame_reader import FrameReader
from penstock.bench.measurement import Measurement, percentiles_of
from penstock.bench.prebuilt import (
    ACKS_ALL,
    fetch_offset_position,
    fetch_request,
    produce_error_position,
)
from penstock.bench.progress import Progress, silent
from penstock.bench.stamped_batch import StampedBatch
from penstock.bench.topics import BenchPartition, offsets
from penstock.records.batch import split_batches
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import decode_response

_NANOSECONDS = 1_000_000_000
_DRAIN_SECONDS_MAX = 30.0
_FETCH_BYTES = 1024 * 1024
_FETCH_WAIT_MS = 500
_LENGTH_BYTES = 4
_ERROR_CODE = struct.Struct(">h")
_OFFSET = struct.Struct(">q")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndToEndLoad:
    """How to load."""

    name: str = "end to end"
    rate: int = 10_000
    linger_ms: float = 1.0
    record_bytes: int = 100
    acks: int = ACKS_ALL
    seconds: float = 5.0
    warm_up_seconds: float = 1.0

    @property
    def records_per_batch(self) -> int:
        """Records that fall due within one linger."""
        return max(1, round(self.rate * self.linger_ms / 1000))


def measure_end_to_end(
    partition: BenchPartition, load: EndToEndLoad, progress: Progress = silent
) -> Measurement:
    """Produce to ``partition`` at the rate, fetch it at the same time, and compare."""
    with ExitStack() as stack:
        producer = stack.enter_context(Connection(partition.leader))
        consumer = stack.enter_context(Connection(partition.leader))
        run = _Run(partition, load, producer, consumer)
        run.run(progress)
    return run.result()


class _Run:
    """One producer and one consumer connection in one loop, which wakes for the next batch or an answer."""

    def __init__(
        self, partition: BenchPartition, load: EndToEndLoad, producer: Connection, consumer: Connection
    ) -> None:
        self._load = load
        self._producer = producer
        self._consumer = consumer
        version = producer.version(ApiKey.PRODUCE)
        self._batch = StampedBatch(
            partition,
            count=load.records_per_batch,
            record_bytes=load.record_bytes,
            acks=load.acks,
            version=version,
        )
        self._error_at = produce_error_position(partition, version=version) - _LENGTH_BYTES
        self._fetch_version = consumer.version(ApiKey.FETCH)
        self._next_offset = offsets([partition])[0][1]
        self._fetch = bytearray(
            fetch_request(
                partition,
                offset=self._next_offset,
                version=self._fetch_version,
                max_bytes=_FETCH_BYTES,
                max_wait_ms=_FETCH_WAIT_MS,
            )
        )
        self._fetch_offset_at = fetch_offset_position(partition, version=self._fetch_version)
        self._interval_ns = _NANOSECONDS // load.rate
        self._batches_total = int((load.seconds + load.warm_up_seconds) * load.rate) // load.records_per_batch
        self._batches_sent = 0
        self._records_received = 0
        self._sent_at: deque[int] = deque()
        self._count_from_ns = 0
        self._last_received_ns = 0
        self._waits_ns: list[int] = []
        self._acknowledged_ns: list[int] = []

    def run(self, progress: Progress) -> None:
        """Send every batch when it is due, and go on until every record came back."""
        acknowledgements, answers = FrameReader(self._producer.socket), FrameReader(self._consumer.socket)
        sockets = [self._producer.socket, self._consumer.socket]
        started_ns = time.monotonic_ns()
        self._count_from_ns = started_ns + int(self._load.warm_up_seconds * _NANOSECONDS)
        batch_ns = self._interval_ns * self._load.records_per_batch
        records_total = self._batches_total * self._load.records_per_batch
        self._ask()
        while self._records_received < records_total:
            now_ns = time.monotonic_ns()
            due_ns = started_ns + (self._batches_sent + 1) * batch_ns
            if self._batches_sent < self._batches_total and now_ns >= due_ns:
                self._send(due_ns, now_ns)
                if not self._batches_sent % 100:
                    progress(self._batches_sent / self._batches_total)
                continue
            self._check_stall(now_ns, started_ns, batch_ns)
            wait = max(0.0, (due_ns - now_ns) / _NANOSECONDS)
            ready, _, _ = select.select(sockets, [], [], wait or 0.1)
            if self._consumer.socket in ready:
                self._take_records(answers)
            if self._producer.socket in ready:
                self._take_acknowledgements(acknowledgements)

    def result(self) -> Measurement:
        """What was counted after the warm-up."""
        acknowledged = percentiles_of(self._acknowledged_ns)
        return Measurement(
            name=self._load.name,
            client="raw",
            records=len(self._waits_ns),
            bytes=len(self._waits_ns) * self._load.record_bytes,
            seconds=(self._last_received_ns - self._count_from_ns) / _NANOSECONDS,
            requests=len(self._acknowledged_ns),
            latency=percentiles_of(self._waits_ns),
            facts={
                "rate": self._load.rate,
                "linger_ms": self._load.linger_ms,
                **({} if acknowledged is None else {"ack_p50_ms": acknowledged.p50_ms}),
                **({} if acknowledged is None else {"ack_p99_ms": acknowledged.p99_ms}),
            },
        )

    def _check_stall(self, now_ns: int, started_ns: int, batch_ns: int) -> None:
        last_due_ns = started_ns + self._batches_total * batch_ns
        if now_ns > last_due_ns + _DRAIN_SECONDS_MAX * _NANOSECONDS:
            raise BenchError(
                f"Records were still missing {_DRAIN_SECONDS_MAX:.0f} s after the last was sent."
            )

    def _send(self, due_ns: int, now_ns: int) -> None:
        count = self._load.records_per_batch
        moments = [due_ns - (count - 1 - position) * self._interval_ns for position in range(count)]
        self._producer.send(self._batch.stamped(moments, correlation_id=self._batches_sent))
        self._batches_sent += 1
        if self._load.acks:
            self._sent_at.append(now_ns)

    def _ask(self) -> None:
        _OFFSET.pack_into(self._fetch, self._fetch_offset_at, self._next_offset)
        self._consumer.send(self._fetch)

    def _take_acknowledgements(self, frames: FrameReader) -> None:
        for frame in frames.read():
            (error_code,) = _ERROR_CODE.unpack_from(frame, self._error_at)
            check(error_code, doing="append a batch")
            sent_ns = self._sent_at.popleft()
            if sent_ns >= self._count_from_ns:
                self._acknowledged_ns.append(time.monotonic_ns() - sent_ns)

    def _take_records(self, frames: FrameReader) -> None:
        for frame in frames.read():
            now_ns = self._last_received_ns = time.monotonic_ns()
            _, answer = decode_response(ApiKey.FETCH, self._fetch_version, frame)
            check(answer.error_code, doing="fetch")
            for topic in answer.responses:
                for data in topic.partitions:
                    check(data.error_code, doing="fetch")
                    self._take_batches(data.records, now_ns)
            self._ask()

    def _take_batches(self, data: Any, now_ns: int) -> None:
        for position, header in split_batches(data or b""):
            self._next_offset = header.next_offset
            self._records_received += header.record_count
            for due_ns in self._batch.read_stamps(data, position):
                if due_ns >= self._count_from_ns:
                    self._waits_ns.append(now_ns - due_ns)
