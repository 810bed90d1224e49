"""Producing from prebuilt requests, on several connections, several in flight on each."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from penstock.bench.connection import Connection
from penstock.bench.lanes import run_lanes
from penstock.bench.measurement import Measurement, percentiles_of
from penstock.bench.prebuilt import ACKS_ALL, PrebuiltBatch, make_batch
from penstock.bench.produce_lane import ProduceLane
from penstock.bench.progress import Progress, silent
from penstock.bench.topics import BenchPartition, by_leader
from penstock.records.compression import Codec

_NANOSECONDS = 1_000_000_000
_UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceLoad:
    """How to load. Five in flight on a connection is what Kafka's own producers allow themselves."""

    name: str = "produce"
    record_bytes: int = 100
    batch_bytes: int = 16_384
    codec: Codec = Codec.NONE
    acks: int = ACKS_ALL
    connections: int = 4
    in_flight: int = 5
    seconds: float = 5.0
    warm_up_seconds: float = 1.0


def measure_produce(
    partitions: Sequence[BenchPartition], load: ProduceLoad, progress: Progress = silent
) -> Measurement:
    """Produce for ``load.seconds`` after a warm-up that does not count."""
    batch = make_batch(record_bytes=load.record_bytes, batch_bytes=load.batch_bytes, codec=load.codec)
    with ExitStack() as stack:
        lanes = _open_lanes(stack, partitions, batch, load)
        run = _TimedRun(lanes, load, progress)
        run_lanes(lanes, on_turn=run.on_turn)
    return run.result()


def fill(partitions: Sequence[BenchPartition], load: ProduceLoad, *, total_bytes: int) -> int:
    """Produce about ``total_bytes`` in whole batches, the same to every partition; how many records."""
    batch = make_batch(record_bytes=load.record_bytes, batch_bytes=load.batch_bytes, codec=load.codec)
    with ExitStack() as stack:
        lanes = _open_lanes(stack, partitions, batch, load)
        requests = max(1, -(-total_bytes // len(batch.data) // len(lanes)))
        now_ns = time.monotonic_ns()
        for lane in lanes:
            lane.budget = requests
            lane.start(now_ns)
        run_lanes(lanes, on_turn=lambda now_ns: None)
    return sum(lane.completed for lane in lanes) * batch.records


class _TimedRun:
    """Counts between the end of the warm-up and the end of the run."""

    def __init__(self, lanes: Sequence[ProduceLane], load: ProduceLoad, progress: Progress) -> None:
        self._lanes = lanes
        self._load = load
        self._progress = progress
        started_ns = time.monotonic_ns()
        self._count_from_ns = started_ns + int(load.warm_up_seconds * _NANOSECONDS)
        self._stop_at_ns = self._count_from_ns + int(load.seconds * _NANOSECONDS)
        self._next_report_ns = started_ns
        self._is_counting = False
        self._is_stopped = False
        self._seconds = 0.0
        self._requests = 0
        self._requests_before = 0
        for lane in lanes:
            lane.budget = _UNLIMITED
            lane.start(started_ns)

    def on_turn(self, now_ns: int) -> None:
        if now_ns >= self._next_report_ns:
            self._report(now_ns)
        if not self._is_counting and now_ns >= self._count_from_ns:
            self._begin_counting(now_ns)
        if not self._is_stopped and now_ns >= self._stop_at_ns:
            self._end_counting(now_ns)

    def result(self) -> Measurement:
        """What was counted; to be asked when all lanes are done."""
        lane = self._lanes[0]
        return Measurement(
            name=self._load.name,
            client="raw",
            records=self._requests * lane.records_per_request,
            bytes=self._requests * lane.batch_bytes,
            seconds=self._seconds,
            requests=self._requests,
            latency=percentiles_of([wait for lane in self._lanes for wait in lane.waits_ns]),
        )

    def _report(self, now_ns: int) -> None:
        self._next_report_ns = now_ns + _NANOSECONDS // 10
        done_ns = now_ns - self._stop_at_ns + int(self._load.seconds * _NANOSECONDS)
        self._progress(min(1.0, max(0.0, done_ns / _NANOSECONDS / self._load.seconds)))

    def _begin_counting(self, now_ns: int) -> None:
        self._is_counting = True
        self._count_from_ns = now_ns
        self._stop_at_ns = now_ns + int(self._load.seconds * _NANOSECONDS)
        self._requests_before = sum(lane.completed for lane in self._lanes)
        for lane in self._lanes:
            lane.keeps_waits = True

    def _end_counting(self, now_ns: int) -> None:
        self._is_stopped = True
        self._seconds = (now_ns - self._count_from_ns) / _NANOSECONDS
        self._requests = sum(lane.completed for lane in self._lanes) - self._requests_before
        for lane in self._lanes:
            lane.keeps_waits = False
            lane.stop()


def _open_lanes(
    stack: ExitStack, partitions: Sequence[BenchPartition], batch: PrebuiltBatch, load: ProduceLoad
) -> list[ProduceLane]:
    """``load.connections`` to every leader, its partitions dealt out over them."""
    lanes = []
    for leader, led in by_leader(partitions).items():
        for number in range(load.connections):
            share = led[number :: load.connections] or [led[number % len(led)]]
            connection = stack.enter_context(Connection(leader))
            lanes.append(ProduceLane(connection, share, batch, acks=load.acks, in_flight=load.in_flight))
    return lanes
