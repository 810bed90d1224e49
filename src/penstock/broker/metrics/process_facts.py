"""What the operating system knows of this process. Blocks a little: a process has many open files."""

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family, Metric

_PROC = "/proc/self"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFacts:
    """As of one moment; what a system does not tell is None."""

    cpu_seconds: float
    open_files_max: int
    resident_bytes: int | None = None
    virtual_bytes: int | None = None
    open_files: int | None = None

    def families(self) -> Iterator[Family]:
        """The facts that are known."""
        values: dict[Metric, float | None] = {
            table.CPU_SECONDS: self.cpu_seconds,
            table.RESIDENT_BYTES: self.resident_bytes,
            table.VIRTUAL_BYTES: self.virtual_bytes,
            table.OPEN_FILES: self.open_files,
            table.OPEN_FILES_MAX: self.open_files_max,
        }
        for metric, value in values.items():
            if value is not None:
                yield Family(metric, [("", value)])


def look_at_process() -> ProcessFacts:
    """Ask the system; memory and files are told by Linux only."""
    times = os.times()
    open_files_max, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    cpu_seconds = times.user + times.system
    if not os.path.isdir(_PROC):
        return ProcessFacts(cpu_seconds=cpu_seconds, open_files_max=open_files_max)
    with open(f"{_PROC}/statm") as file:
        virtual_pages, resident_pages = map(int, file.read().split()[:2])
    page_bytes = resource.getpagesize()
    return ProcessFacts(
        cpu_seconds=cpu_seconds,
        open_files_max=open_files_max,
        resident_bytes=resident_pages * page_bytes,
        virtual_bytes=virtual_pages * page_bytes,
        open_files=len(os.listdir(f"{_PROC}/fd")),
    )
