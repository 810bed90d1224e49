"""The JSON files of one process: ``penstock.jsonl`` in use, ``penstock-<day and time>.jsonl`` set aside.

A file is set aside when it would become too large, and when a new day begins (UTC), so that what is old goes
even where little is said. Those set aside go by age and by count.

These files are beside the file system seam on purpose: no promise rests on them, they are never flushed, and
the broker never reads them back. A line that could be written only in part is closed by the next one.
"""

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from penstock.broker.clock import Clock

CURRENT = "penstock.jsonl"
ASIDE_PREFIX = "penstock-"
ASIDE_SUFFIX = ".jsonl"

DAY_MS = 24 * 60 * 60 * 1000

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """When files are set aside, and when those go."""

    file_bytes_max: int
    age_ms_max: int
    #: Those set aside; the one in use comes on top.
    files_max: int


class LogFiles:
    """Written by one thread. Whatever fails raises ``OSError`` and may be tried again."""

    def __init__(self, directory: str, limits: FileLimits, clock: Clock) -> None:
        self.directory = directory
        self._limits = limits
        self._clock = clock
        self._descriptor: int | None = None
        self._size = 0
        self._day = 0
        self._is_line_open = False

    def write(self, lines: bytes) -> None:
        """Append whole lines."""
        descriptor = self._file_for(len(lines))
        rest = memoryview(b"\n" + lines if self._is_line_open else lines)
        self._is_line_open = True
        while rest:
            count = os.write(descriptor, rest)
            self._size += count
            rest = rest[count:]
        self._is_line_open = False

    def close(self) -> None:
        """Let go of the file; writing opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _file_for(self, byte_count: int) -> int:
        today = self._clock.wall_ms() // DAY_MS
        if self._descriptor is None:
            self._open()
            self.sweep()
        is_too_large = self._size + byte_count > self._limits.file_bytes_max
        if self._size and (is_too_large or today != self._day):
            self._set_aside()
        self._day = today
        assert self._descriptor is not None
        return self._descriptor

    def _open(self) -> None:
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        self._descriptor = os.open(self._path(CURRENT), _FLAGS, 0o600)
        status = os.fstat(self._descriptor)
        self._size = status.st_size
        self._day = int(status.st_mtime * 1000) // DAY_MS

    def _set_aside(self) -> None:
        self.close()
        os.rename(self._path(CURRENT), self._path(self._free_name()))
        self._open()
        self.sweep()

    def _free_name(self) -> str:
        """A name that tells when the file was set aside, and that none has yet."""
        instant = datetime.fromtimestamp(self._clock.wall_ms() / 1000, UTC)
        taken = set(os.listdir(self.directory))
        stem = f"{ASIDE_PREFIX}{instant:%Y%m%dT%H%M%S}.{instant.microsecond // 1000:03}Z"
        names = (f"{stem}{f'-{number}' if number else ''}{ASIDE_SUFFIX}" for number in range(len(taken) + 1))
        return next(name for name in names if name not in taken)

    def sweep(self) -> None:
        """Remove files that are too old, or too many."""
        oldest_ms = self._clock.wall_ms() - self._limits.age_ms_max
        aside = sorted(
            (os.stat(path).st_mtime_ns, path)
            for name in os.listdir(self.directory)
            if name.startswith(ASIDE_PREFIX) and name.endswith(ASIDE_SUFFIX)
            for path in (self._path(name),)
        )
        surplus = max(0, len(aside) - self._limits.files_max)
        for number, (written_ns, path) in enumerate(aside):
            if number < surplus or written_ns // 1_000_000 < oldest_ms:
                os.unlink(path)

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)
