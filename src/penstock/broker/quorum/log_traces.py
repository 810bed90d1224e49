"""What is left of a damaged metadata log, wherever it lies: intact batches before, between and behind damage.

They are no log any more. But they tell how far it went, which is what its node may have vouched for, and who
the voters were.

Where a batch stood in the log its checksum does not say. But batches that stand side by side in a file follow
each other in the log, too: each of them says where all of them stood, and what most say is believed. A batch
that stands alone is believed as far as the file can be right about it. One wrong bit must neither take a
node's vote away for ever nor give it back too early.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.broker.quorum.metadata_log import METADATA_TOPIC_ID
from penstock.raft.batches import entries_of
from penstock.raft.voters import VoterSet
from penstock.records.batch import HEADER_BYTES, BatchHeader, crc_matches, read_header
from penstock.records.errors import CorruptBatchError
from penstock.records.record import RECORD_BYTES_MIN
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.leftovers import DirectoryListing
from penstock.storage.log import Log
from penstock.storage.log_directory import LogDirectory
from penstock.storage.seal import SealKey
from penstock.storage.segment import LOG_SUFFIX, file_name

_MAYBE_BATCH = re.compile(rb"(?=.{16}\x02)", re.DOTALL)
"""Wherever the byte behind a base offset, a length and an epoch is the magic of batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTraces:
    """What can be told."""

    #: Of the last entry that is there, or is remembered as durable.
    end_offset: int
    #: As the last entry says that names any; None if there is none.
    voters: VoterSet | None


@dataclass(slots=True, kw_only=True)
class _Run:
    """Intact batches side by side."""

    position: int
    end_position: int
    #: How many offsets they take.
    length: int = 0
    #: Where each of them says that the first one begins, and how many say so.
    claims: Counter[int] = field(default_factory=Counter)
    #: Of the last batch that names any: how far from the first one it stands, and whom it names.
    voters: tuple[int, VoterSet] | None = None

    def take(self, batch: bytes, header: BatchHeader) -> None:
        """Grow by the batch that follows."""
        self.claims[header.base_offset - self.length] += 1
        if header.is_control:
            (entry,) = entries_of(batch)
            if entry.voters is not None:
                self.voters = (self.length, entry.voters)
        self.length += header.last_offset_delta + 1
        self.end_position += header.size_bytes

    def base_offset(self, least: int, greatest: int) -> int:
        """Where it begins. A batch alone is believed between these two; else it is the later one."""
        witnesses = max(self.claims.values())
        if witnesses > 1:
            return max(claim for claim, number in self.claims.items() if number == witnesses)
        return max((claim for claim in self.claims if least <= claim <= greatest), default=greatest)


def find_traces(filesystem: FileSystem, directory: LogDirectory, log: Log) -> LogTraces:
    """Look through all of the log's files, byte by byte. Blocks."""
    end_offset = max(
        directory.seal.sealed_offset(SealKey(METADATA_TOPIC_ID, 0)) or 0,
        log.recovery_point,
        log.log_end_offset,
    )
    voters: VoterSet | None = None
    voters_offset = -1
    for segment_offset, data in _files(filesystem, log):
        for base_offset, run in _placed_runs(data, segment_offset):
            end_offset = max(end_offset, base_offset + run.length)
            if run.voters is not None and base_offset + run.voters[0] > voters_offset:
                voters_offset, voters = base_offset + run.voters[0], run.voters[1]
    return LogTraces(end_offset=end_offset, voters=voters)


def _files(filesystem: FileSystem, log: Log) -> Iterator[tuple[int, bytes]]:
    """The segments, each with the offset at which it begins, as its name says."""
    for offset in sorted(DirectoryListing(filesystem.list_directory(log.directory)).base_offsets):
        yield offset, filesystem.read_file(join_path(log.directory, file_name(offset, LOG_SUFFIX)))


def _placed_runs(data: bytes, segment_offset: int) -> Iterator[tuple[int, _Run]]:
    """All runs in a segment, each with the offset at which it begins."""
    offset, position = segment_offset, 0
    for run in _runs(data):
        # What lies between was one record at least, and as many as find room: this log is not compressed.
        gap_bytes = run.position - position
        base_offset = run.base_offset(offset + min(gap_bytes, 1), offset + gap_bytes // RECORD_BYTES_MIN)
        yield base_offset, run
        offset, position = base_offset + run.length, run.end_position


def _runs(data: bytes) -> Iterator[_Run]:
    run: _Run | None = None
    for position, header in _intact_batches(data):
        if run is None or run.end_position != position:
            if run is not None:
                yield run
            run = _Run(position=position, end_position=position)
        run.take(data[position : position + header.size_bytes], header)
    if run is not None:
        yield run


def _intact_batches(data: bytes) -> Iterator[tuple[int, BatchHeader]]:
    position = 0
    while (match := _MAYBE_BATCH.search(data, position)) is not None:
        position = match.start()
        if position + HEADER_BYTES > len(data):
            return
        header = _intact_batch_at(data, position)
        if header is None:
            position += 1
        else:
            yield position, header
            position += header.size_bytes


def _intact_batch_at(data: bytes, position: int) -> BatchHeader | None:
    try:
        header = read_header(data, position)
    except CorruptBatchError:
        return None
    return header if crc_matches(data, header, position) else None
