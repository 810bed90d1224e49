"""Whether a stored partition is what it should be: every batch, and every index entry that leads to one.

Damage is what a broker would refuse to serve, or rebuild. A remark is what may be in order: a batch at the
very end that is not whole, as while a broker writes; offsets that are missing, as compaction leaves them.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from penstock.analysis.segment_scan import SegmentScan
from penstock.analysis.stored_partition import StoredPartition, StoredSegment
from penstock.model.errors import StorageError
from penstock.model.ids import TopicPartition
from penstock.storage import offset_index, time_index
from penstock.storage.filesystem import FileSystem, PathMissingError

_WITHOUT_INDEXES = "__cluster_metadata"
"""The metadata log is read from its beginning, or from a snapshot."""

SENTENCES_MAX = 50
"""Of each kind and partition."""


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What was found in one partition."""

    partition: TopicPartition
    segment_count: int = 0
    batch_count: int = 0
    checked_bytes: int = 0
    index_entry_count: int = 0
    gap_count: int = 0
    damage: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether there is no damage."""
        return not self.damage

    def note_damage(self, sentence: str) -> None:
        """Remember damage, up to a limit."""
        if len(self.damage) < SENTENCES_MAX:
            self.damage.append(sentence)

    def remark(self, sentence: str) -> None:
        """Remember something else, up to a limit."""
        if len(self.remarks) < SENTENCES_MAX:
            self.remarks.append(sentence)

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "segments": self.segment_count,
            "batches": self.batch_count,
            "bytes": self.checked_bytes,
            "index_entries": self.index_entry_count,
            "gaps": self.gap_count,
            "damage": self.damage,
            "remarks": self.remarks,
        }


def verify_partition(
    filesystem: FileSystem, stored: StoredPartition, *, progress: Callable[[int], None]
) -> Verdict:
    """Read and check all of a partition; its files are never changed."""
    verdict = Verdict(partition=stored.partition)
    expected: int | None = None
    for segment in stored.segments:
        try:
            expected = _verify_segment(filesystem, segment, verdict, expected, progress)
        except PathMissingError:
            verdict.remark(f"{segment.path()} was removed before it could be read.")
            expected = None
        except StorageError as error:
            verdict.note_damage(f"{error}.")
            expected = None
    return verdict


@dataclass(slots=True, kw_only=True)
class _Batches:
    """The batches of a segment, in columns."""

    positions: "array[int]" = field(default_factory=lambda: array("q"))
    last_offsets: "array[int]" = field(default_factory=lambda: array("q"))
    largest_timestamps: "array[int]" = field(default_factory=lambda: array("q"))


def _verify_segment(
    filesystem: FileSystem,
    segment: StoredSegment,
    verdict: Verdict,
    expected: int | None,
    progress: Callable[[int], None],
) -> int:
    """Check one segment that should begin at ``expected``, if that is known; what the next begins at."""
    scan = SegmentScan(filesystem, segment)
    batches = _Batches()
    next_offset = segment.base_offset if expected is None else expected
    for batch in scan.batches(progress=progress):
        header = batch.header
        if header.base_offset != next_offset:
            _note_gap(segment, verdict, next_offset, header.base_offset)
        next_offset = header.next_offset
        batches.positions.append(batch.position)
        batches.last_offsets.append(header.last_offset)
        batches.largest_timestamps.append(header.max_timestamp)
        verdict.batch_count += 1
        verdict.checked_bytes += header.size_bytes
    verdict.segment_count += 1
    _note_tail(scan, segment, verdict)
    for problem in (
        *_offset_index_problems(filesystem, segment, batches, verdict),
        *_time_index_problems(filesystem, segment, batches, verdict),
    ):
        # What a broker has written behind its index, or cut from it, settles when it stops.
        verdict.remark(problem) if segment.is_newest else verdict.note_damage(problem)
    return next_offset


def _note_gap(segment: StoredSegment, verdict: Verdict, expected: int, found: int) -> None:
    verdict.gap_count += 1
    if found < expected:
        verdict.note_damage(f"{segment.path()}: offset {found} follows {expected - 1}.")
    elif verdict.gap_count == 1:
        verdict.remark(
            f"Offsets {expected} to {found - 1} are missing, perhaps others too: "
            "compaction leaves such gaps, nothing else does."
        )


def _note_tail(scan: SegmentScan, segment: StoredSegment, verdict: Verdict) -> None:
    tail = scan.tail
    if tail is None:
        return
    where = f"{segment.path()}, position {tail.position}"
    if tail.is_damage:
        verdict.note_damage(f"{where}: {tail.reason}; {tail.size} bytes from there on cannot be served.")
    else:
        verdict.remark(f"{where}: the last {tail.size} bytes are no whole batch: {tail.reason}.")


def _offset_index_problems(
    filesystem: FileSystem, segment: StoredSegment, batches: _Batches, verdict: Verdict
) -> Iterator[str]:
    for number, (relative, position) in _entries(
        filesystem, segment, offset_index.SUFFIX, offset_index.ENTRY, verdict
    ):
        at = bisect_left(batches.positions, position)
        offset = segment.base_offset + relative
        if at == len(batches.positions) or batches.positions[at] != position:
            yield f"{segment.path(offset_index.SUFFIX)}, entry {number}: no batch begins at {position}."
            return
        if batches.last_offsets[at] != offset:
            yield (
                f"{segment.path(offset_index.SUFFIX)}, entry {number}: the batch at {position} ends with "
                f"offset {batches.last_offsets[at]}, not {offset}."
            )
            return


def _time_index_problems(
    filesystem: FileSystem, segment: StoredSegment, batches: _Batches, verdict: Verdict
) -> Iterator[str]:
    for number, (timestamp, relative) in _entries(
        filesystem, segment, time_index.SUFFIX, time_index.ENTRY, verdict
    ):
        offset = segment.base_offset + relative
        at = bisect_left(batches.last_offsets, offset)
        if at == len(batches.last_offsets):
            yield f"{segment.path(time_index.SUFFIX)}, entry {number}: there is no offset {offset}."
            return
        if batches.largest_timestamps[at] != timestamp:
            yield (
                f"{segment.path(time_index.SUFFIX)}, entry {number}: the batch with offset {offset} has "
                f"the time {batches.largest_timestamps[at]}, not {timestamp}."
            )
            return


def _entries(
    filesystem: FileSystem, segment: StoredSegment, suffix: str, entry: Struct, verdict: Verdict
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Entries with their numbers; zeros at the end are room that was reserved, as Kafka does."""
    if suffix not in segment.sizes:
        # A broker that runs has those of its newest segment in memory.
        if not segment.is_newest and verdict.partition.topic != _WITHOUT_INDEXES:
            verdict.remark(f"{segment.path(suffix)} is missing; a broker makes it anew.")
        return
    data = filesystem.read_file(segment.path(suffix)).rstrip(b"\0")
    # Zeros may also end an entry that is one.
    count = -(-len(data) // entry.size)
    padded = data.ljust(count * entry.size, b"\0")
    verdict.index_entry_count += count
    for number in range(count):
        first, second = entry.unpack_from(padded, number * entry.size)
        yield number, (first, second)
