"""Reading whole topics with prebuilt fetches."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from penstock.bench.connection import Connection
from penstock.bench.errors import BenchError
from penstock.bench.fetch_lane import FetchLane
from penstock.bench.lanes import run_lanes
from penstock.bench.measurement import Measurement
from penstock.bench.progress import Progress, silent
from penstock.bench.topics import BenchPartition, by_leader, offsets

_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeLoad:
    """How to read. A mebibyte a fetch is what Kafka's own consumers ask of a partition."""

    name: str = "consume"
    fetch_bytes: int = 1024 * 1024
    connections: int = 4
    passes: int = 1


def measure_consume(
    partitions: Sequence[BenchPartition], load: ConsumeLoad, progress: Progress = silent
) -> Measurement:
    """Read everything that is there when it begins, ``load.passes`` times."""
    ranges = {
        partition.number: bounds
        for partition, bounds in zip(partitions, offsets(partitions), strict=True)
        if bounds[0] < bounds[1]
    }
    if not ranges:
        raise BenchError("There is nothing to read.")
    readable = [partition for partition in partitions if partition.number in ranges]
    started_ns = time.monotonic_ns()
    lanes: list[FetchLane] = []
    for number in range(load.passes):
        lanes += _read_once(readable, ranges, load)
        progress((number + 1) / load.passes)
    return Measurement(
        name=load.name,
        client="raw",
        records=sum(lane.records for lane in lanes),
        bytes=sum(lane.bytes for lane in lanes),
        seconds=(time.monotonic_ns() - started_ns) / _NANOSECONDS,
        requests=sum(lane.requests for lane in lanes),
    )


def _read_once(
    partitions: Sequence[BenchPartition], ranges: dict[int, tuple[int, int]], load: ConsumeLoad
) -> list[FetchLane]:
    with ExitStack() as stack:
        lanes = []
        for leader, led in by_leader(partitions).items():
            for number in range(min(load.connections, len(led))):
                share = [
                    (partition, *ranges[partition.number]) for partition in led[number :: load.connections]
                ]
                connection = stack.enter_context(Connection(leader))
                lanes.append(FetchLane(connection, share, fetch_bytes=load.fetch_bytes))
        for lane in lanes:
            lane.start()
        run_lanes(lanes, on_turn=lambda now_ns: None)
    return lanes
