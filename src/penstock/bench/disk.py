"""What the disk itself can do, measured beside the broker: the yardstick for everything that flushes.

Files are unnamed, so that nothing is left behind in a broker's directory.
"""

import os
import tempfile
import time
from pathlib import Path

from penstock.bench.measurement import Measurement, percentiles_of

_BLOCK_BYTES = 1024 * 1024
_NANOSECONDS = 1_000_000_000


def measure_flushes(directory: Path, *, write_bytes: int, seconds: float) -> Measurement:
    """Append ``write_bytes`` and ``fdatasync``, one after another: what an acknowledgement must wait for."""
    block = os.urandom(write_bytes)
    waits_ns: list[int] = []
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        started_ns = now_ns = time.monotonic_ns()
        while now_ns - started_ns < seconds * _NANOSECONDS:
            file.write(block)
            os.fdatasync(file.fileno())
            before_ns, now_ns = now_ns, time.monotonic_ns()
            waits_ns.append(now_ns - before_ns)
    return Measurement(
        name=f"bare fdatasync of {write_bytes} B",
        client="disk",
        records=len(waits_ns),
        bytes=len(waits_ns) * write_bytes,
        seconds=(now_ns - started_ns) / _NANOSECONDS,
        latency=percentiles_of(waits_ns),
    )


def measure_writing(directory: Path, *, total_bytes: int) -> Measurement:
    """Write blocks of 1 MiB and flush once at the end, as ``dd bs=1M conv=fsync`` does."""
    block = os.urandom(_BLOCK_BYTES)
    count = max(1, total_bytes // _BLOCK_BYTES)
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        started_ns = time.monotonic_ns()
        for _ in range(count):
            file.write(block)
        os.fsync(file.fileno())
        elapsed_ns = time.monotonic_ns() - started_ns
    return Measurement(
        name="sequential write, one fsync",
        client="disk",
        records=count,
        bytes=count * _BLOCK_BYTES,
        seconds=elapsed_ns / _NANOSECONDS,
    )
