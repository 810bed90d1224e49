"""What is left of a damaged metadata log, wherever it lies: intact batches before, between and behind damage.

They are no log any more. But they tell how far it went, which is what its node may have vouched for, and who
the voters were.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.broker.quorum.metadata_log import METADATA_TOPIC_ID
from penstock.raft.batches import entries_of
from penstock.raft.voters import VoterSet
from penstock.records.batch import HEADER_BYTES, BatchHeader, crc_matches, read_header
from penstock.records.errors import CorruptBatchError
from penstock.storage.filesystem import FileSystem, join_path
from penstock.storage.log import Log
from penstock.storage.log_directory import LogDirectory
from penstock.storage.seal import SealKey
from penstock.storage.segment import LOG_SUFFIX

_MAYBE_BATCH = re.compile(rb"(?=.{16}\x02)", re.DOTALL)
"""Wherever the byte behind a base offset, a length and an epoch is the magic of batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTraces:
    """What can be told."""

    #: Of the last entry that is there, or is remembered as durable.
    end_offset: int
    #: As the last entry says that names any; None if there is none.
    voters: VoterSet | None


def find_traces(filesystem: FileSystem, directory: LogDirectory, log: Log) -> LogTraces:
    """Look through all of the log's files, byte by byte. Blocks."""
    end_offset = max(
        directory.seal.sealed_offset(SealKey(METADATA_TOPIC_ID, 0)) or 0,
        log.recovery_point,
        log.log_end_offset,
    )
    voters: VoterSet | None = None
    voters_offset = -1
    for data in _files(filesystem, log):
        for position, header in _intact_batches(data):
            end_offset = max(end_offset, header.next_offset)
            if header.is_control and header.base_offset > voters_offset:
                (entry,) = entries_of(data[position : position + header.size_bytes])
                if entry.voters is not None:
                    voters, voters_offset = entry.voters, entry.offset
    return LogTraces(end_offset=end_offset, voters=voters)


def _files(filesystem: FileSystem, log: Log) -> Iterator[bytes]:
    for name in filesystem.list_directory(log.directory):
        if name.endswith(LOG_SUFFIX):
            yield filesystem.read_file(join_path(log.directory, name))


def _intact_batches(data: bytes) -> Iterator[tuple[int, BatchHeader]]:
    for match in _MAYBE_BATCH.finditer(data):
        position = match.start()
        if position + HEADER_BYTES > len(data):
            return
        try:
            header = read_header(data, position)
        except CorruptBatchError:
            continue
        if header.base_offset >= 0 and crc_matches(data, header, position):
            yield position, header
