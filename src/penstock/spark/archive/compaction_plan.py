"""Which small files a compaction makes into large ones.

Only hours that are over are looked at. Files that are large enough stay as they are; the others of an hour
are put together, neighbours in offsets first, until a file would be as large as wanted. So a record is
rewritten a few times at most, however many late ones follow: what remains small is at most one file an hour.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from penstock.model.errors import UsageError
from penstock.spark.archive.files import ArchivedFile
from penstock.spark.archive.paths import HOUR_MS, Hour

MEBIBYTE = 1024 * 1024
_EPOCH_DATE = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSizes:
    """What is small, and how large files become."""

    small_bytes: int = 128 * MEBIBYTE
    """Files of fewer bytes are put together."""
    target_bytes: int = 512 * MEBIBYTE
    """No file is made of more, unless a single one was."""
    closed_after_ms: int = HOUR_MS
    """How long after its end an hour counts as over; late records come until then."""

    def __post_init__(self) -> None:
        if not 0 < self.small_bytes <= self.target_bytes:
            raise UsageError(
                f"Files smaller than {self.small_bytes} bytes cannot be made into files of at most "
                f"{self.target_bytes}: the first must be more than 0 and not more than the second."
            )
        if self.closed_after_ms < 0:
            raise UsageError(f"An hour cannot be over {-self.closed_after_ms} ms before its end.")


class Group(NamedTuple):
    """Files that may be put together: of one hour of one incarnation of a topic."""

    hour: Hour
    incarnation: int


class Merge(NamedTuple):
    """Files that become one."""

    group: Group
    files: tuple[ArchivedFile, ...]

    @property
    def size_bytes(self) -> int:
        """Of all files together."""
        return sum(file.size_bytes for file in self.files)


def plan_compaction(files: Iterable[ArchivedFile], sizes: CompactionSizes, *, now_ms: int) -> list[Merge]:
    """What to merge, in the order of topics and hours."""
    groups: dict[Group, list[ArchivedFile]] = defaultdict(list)
    for file in files:
        if file.size_bytes < sizes.small_bytes and is_over(file.hour, sizes, now_ms=now_ms):
            groups[Group(file.hour, file.incarnation)].append(file)
    return [merge for group in sorted(groups) for merge in _merges(group, groups[group], sizes)]


def is_over(hour: Hour, sizes: CompactionSizes, *, now_ms: int) -> bool:
    """Whether no more records of that hour are expected."""
    return hour_end_ms(hour) + sizes.closed_after_ms <= now_ms


def hour_end_ms(hour: Hour) -> int:
    """When an hour ends; the hours of dates that no calendar has are long over."""
    try:
        day = datetime.fromisoformat(hour.date).replace(tzinfo=UTC)
    except ValueError:
        return 0
    return round((day - _EPOCH_DATE).total_seconds() * 1000) + (int(hour.hour) + 1) * HOUR_MS


def _merges(group: Group, files: list[ArchivedFile], sizes: CompactionSizes) -> Iterator[Merge]:
    together: list[ArchivedFile] = []
    size_bytes = 0
    for file in sorted(files, key=_position):
        if size_bytes + file.size_bytes > sizes.target_bytes:
            yield from _worthwhile(group, together)
            together, size_bytes = [], 0
        together.append(file)
        size_bytes += file.size_bytes
    yield from _worthwhile(group, together)


def _worthwhile(group: Group, files: list[ArchivedFile]) -> Iterator[Merge]:
    if len(files) > 1:
        yield Merge(group, tuple(files))


def _position(file: ArchivedFile) -> tuple[int, str]:
    """By first offsets, so that a file has a short stretch of each partition and readers can pass it over."""
    return min(span.first for span in file.spans.values()), file.path
