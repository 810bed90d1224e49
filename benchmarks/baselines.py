"""Yardsticks of the machine itself: its disk, and the benchmark's own limit."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DD_SUMMARY = re.compile(r"(\d+) bytes .*copied, ([0-9.]+) s")


def dd_megabytes_per_second(directory: Path, *, megabytes: int) -> float:
    """What ``dd bs=1M conv=fsync`` writes to the disk that holds ``directory``."""
    path = directory / "dd-baseline"
    command = ["dd", "if=/dev/zero", f"of={path}", "bs=1M", f"count={megabytes}", "conv=fsync"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={"LC_ALL": "C"})
    finally:
        path.unlink(missing_ok=True)
    found = _DD_SUMMARY.search(done.stderr)
    if found is None:
        raise SystemExit(f"dd said something unexpected: {done.stderr}")
    return int(found[1]) / float(found[2]) / 1e6


@contextmanager
def sink() -> Iterator[str]:
    """The address of a broker that does nothing, in a process of its own."""
    script = Path(__file__).with_name("sink.py")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()
