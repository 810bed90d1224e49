"""One acknowledged record after another: what a client waits that waits for every record.

Where the broker's data directory is on this machine, a bare write and ``fdatasync`` of the same size is timed
before and after on the same disk: no broker that flushes before it acknowledges can be faster than that.
"""

import struct
import time
from dataclasses import dataclass
from pathlib import Path

from penstock.bench.connection import Connection
from penstock.bench.disk import measure_flushes
from penstock.bench.errors import check
from penstock.bench.measurement import Measurement, percentiles_of
from penstock.bench.prebuilt import ACKS_ALL, make_batch, produce_error_position, produce_request
from penstock.bench.progress import Progress, silent
from penstock.bench.topics import BenchPartition
from penstock.wire.api_keys import ApiKey

_NANOSECONDS = 1_000_000_000
_LENGTH_BYTES = 4
_ERROR_CODE = struct.Struct(">h")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTripLoad:
    """How to load; ``data_directory`` is where the broker keeps its data, if that can be reached."""

    name: str = "one at a time"
    record_bytes: int = 100
    acks: int = ACKS_ALL
    seconds: float = 3.0
    warm_up_seconds: float = 1.0
    data_directory: Path | None = None
    flush_seconds: float = 1.0


def measure_round_trips(
    partition: BenchPartition, load: RoundTripLoad, progress: Progress = silent
) -> Measurement:
    """Send a record, wait for its acknowledgement, and again."""
    batch = make_batch(record_bytes=load.record_bytes, batch_bytes=0)
    flushes_before = _flush_p50_ms(load, len(batch.data))
    with Connection(partition.leader) as connection:
        version = connection.version(ApiKey.PRODUCE)
        request = produce_request(partition, batch.data, acks=load.acks, version=version, correlation_id=1)
        error_at = produce_error_position(partition, version=version) - _LENGTH_BYTES
        _repeat(connection, request, error_at, load.warm_up_seconds, silent)
        waits_ns = _repeat(connection, request, error_at, load.seconds, progress)
    latency = percentiles_of(waits_ns)
    flushes_after = _flush_p50_ms(load, len(batch.data))
    facts: dict[str, float | str] = {}
    if latency is not None and flushes_before is not None and flushes_after is not None:
        flush_p50_ms = (flushes_before + flushes_after) / 2
        facts = {
            "fdatasync_p50_ms": round(flush_p50_ms, 4),
            "ratio_to_fdatasync": round(latency.p50_ms / flush_p50_ms, 2),
        }
    return Measurement(
        name=load.name,
        client="raw",
        records=len(waits_ns),
        bytes=len(waits_ns) * len(batch.data),
        seconds=sum(waits_ns) / _NANOSECONDS,
        requests=len(waits_ns),
        latency=latency,
        facts=facts or None,
    )


def _repeat(
    connection: Connection, request: bytes, error_at: int, seconds: float, progress: Progress
) -> list[int]:
    waits_ns: list[int] = []
    started_ns = now_ns = time.monotonic_ns()
    while now_ns - started_ns < seconds * _NANOSECONDS:
        before_ns = now_ns
        connection.send(request)
        (error_code,) = _ERROR_CODE.unpack_from(connection.receive_frame(), error_at)
        now_ns = time.monotonic_ns()
        check(error_code, doing="append a record")
        waits_ns.append(now_ns - before_ns)
        if not len(waits_ns) % 200:
            progress(min(1.0, (now_ns - started_ns) / _NANOSECONDS / seconds))
    return waits_ns


def _flush_p50_ms(load: RoundTripLoad, write_bytes: int) -> float | None:
    if load.data_directory is None:
        return None
    measured = measure_flushes(load.data_directory, write_bytes=write_bytes, seconds=load.flush_seconds / 2)
    return None if measured.latency is None else measured.latency.p50_ms
