"""A partition as a whole: its records in numbers, its files, and what was strange about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock.analysis.key_counts import KEYS_MAX
from penstock.analysis.record_statistics import RecordStatistics
from penstock.analysis.segment_scan import SegmentScan
from penstock.analysis.stored_partition import StoredPartition, StoredSegment
from penstock.model.ids import TopicPartition
from penstock.records.errors import CorruptBatchError
from penstock.storage.filesystem import FileSystem, PathMissingError

Progress = Callable[[int], None]

NOTES_MAX = 50
"""Of one partition: a log that is all damage would otherwise fill the screen, and memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTotals:
    """What a partition takes on one disk."""

    files: int = 0
    segments: int = 0
    bytes: int = 0
    index_bytes: int = 0

    def plus(self, other: "FileTotals") -> "FileTotals":
        """Both together."""
        return FileTotals(
            files=self.files + other.files,
            segments=self.segments + other.segments,
            bytes=self.bytes + other.bytes,
            index_bytes=self.index_bytes + other.index_bytes,
        )


@dataclass(slots=True, kw_only=True)
class PartitionAnalysis:
    """What was found out about a partition."""

    partition: TopicPartition
    statistics: RecordStatistics
    files: FileTotals | None = None
    """None where only a broker could tell, and did not."""
    first_offset: int | None = None
    next_offset: int | None = None
    notes: list[str] = field(default_factory=list)
    """Sentences about what could not be counted."""

    def saw(self, base_offset: int, next_offset: int) -> None:
        """Note the offsets of a batch."""
        if self.first_offset is None:
            self.first_offset = base_offset
        self.next_offset = next_offset

    def note(self, sentence: str) -> None:
        """Remember what could not be counted, up to a limit."""
        if len(self.notes) < NOTES_MAX:
            self.notes.append(sentence)

    def as_json(self, *, top_max: int) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "partition": self.partition.partition,
            "first_offset": self.first_offset,
            "next_offset": self.next_offset,
            "files": _files_as_json(self.files),
            **self.statistics.as_json(top_max=top_max),
            "notes": self.notes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAnalysis:
    """A topic: its partitions, and all of them together."""

    topic: str
    partitions: tuple[PartitionAnalysis, ...]
    statistics: RecordStatistics

    @property
    def files(self) -> FileTotals | None:
        """Those of all partitions; None unless all are known."""
        totals = FileTotals()
        for partition in self.partitions:
            if partition.files is None:
                return None
            totals = totals.plus(partition.files)
        return totals

    def as_json(self, *, top_max: int) -> dict[str, Any]:
        """All figures as plain values, those of partitions included."""
        return {
            "topic": self.topic,
            "files": _files_as_json(self.files),
            **self.statistics.as_json(top_max=top_max),
            "partitions": [partition.as_json(top_max=top_max) for partition in self.partitions],
        }


def analyse_partition(
    filesystem: FileSystem, stored: StoredPartition, *, keys_max: int, progress: Progress
) -> PartitionAnalysis:
    """Read every batch of a partition that lies in a data directory."""
    analysis = PartitionAnalysis(
        partition=stored.partition,
        statistics=RecordStatistics(keys_max=keys_max),
        files=FileTotals(
            files=stored.file_count,
            segments=len(stored.segments),
            bytes=stored.file_bytes,
            index_bytes=sum(segment.index_bytes for segment in stored.segments),
        ),
    )
    for segment in stored.segments:
        try:
            _read_segment(filesystem, segment, analysis, progress)
        except PathMissingError:
            analysis.note(f"{segment.path()} was removed before it could be read.")
    return analysis


def sum_up(topic: str, partitions: Iterable[PartitionAnalysis]) -> TopicAnalysis:
    """A topic out of its partitions, in their order."""
    ordered = tuple(sorted(partitions, key=lambda each: each.partition))
    statistics = RecordStatistics(keys_max=KEYS_MAX)
    for partition in ordered:
        statistics.merge(partition.statistics)
    return TopicAnalysis(topic=topic, partitions=ordered, statistics=statistics)


def _read_segment(
    filesystem: FileSystem, segment: StoredSegment, analysis: PartitionAnalysis, progress: Progress
) -> None:
    scan = SegmentScan(filesystem, segment)
    for batch in scan.batches(progress=progress):
        header = batch.header
        analysis.saw(header.base_offset, header.next_offset)
        try:
            analysis.statistics.add_batch(batch.buffer, header, batch.at)
        except CorruptBatchError as error:
            analysis.note(
                f"{segment.path()}: the batch at offset {header.base_offset} is not counted: {error.message}"
            )
    if scan.tail is not None:
        where = f"{segment.path()}, position {scan.tail.position}"
        what = "damage" if scan.tail.is_damage else "no whole batch yet"
        analysis.note(f"{where}: {what} ({scan.tail.reason}); {scan.tail.size} bytes are not counted.")


def _files_as_json(files: FileTotals | None) -> dict[str, int] | None:
    if files is None:
        return None
    return {
        "files": files.files,
        "segments": files.segments,
        "bytes": files.bytes,
        "index_bytes": files.index_bytes,
    }
