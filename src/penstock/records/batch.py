"""The 61-byte header of a record batch (magic 2), and what the broker does with it in place.

A batch stays opaque: its header is read, its checksum compared, its base offset and leader epoch overwritten.
Both lie outside the checksum, so an append costs the same for one record and for ten thousand. It works
on any contiguous buffer and copies nothing. Single records are in ``record``.

Read and stamp are the broker's innermost loop and are written for speed: one precompiled struct, no slices.
"""

from collections.abc import Iterator
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from penstock.records.checksum import crc32c
from penstock.records.errors import CorruptBatchError as CorruptBatchError

Buffer = bytes | bytearray | memoryview
WritableBuffer = bytearray | memoryview

HEADER_BYTES = 61
LOG_OVERHEAD = 12
"""Base offset and batch length: what stands before the bytes that the length counts."""

BATCH_LENGTH_MIN = HEADER_BYTES - LOG_OVERHEAD
CRC_START = 21
"""The checksum covers everything from the attributes to the end."""

MAGIC = 2
CODEC_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

SEQUENCE_MAX = 2**31 - 1

_HEADER = Struct(">qiibIhiqqqhii")
_BASE_OFFSET = Struct(">q")
_LEADER_EPOCH = Struct(">i")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP = Struct(">q")

_LEADER_EPOCH_AT = 12
_CRC_AT = 17
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35

_unpack_header = _HEADER.unpack_from
_pack_base_offset = _BASE_OFFSET.pack_into
_pack_leader_epoch = _LEADER_EPOCH.pack_into
_new_tuple = tuple.__new__


class BatchHeader(NamedTuple):
    """The fields of a batch's header, in the order in which they stand."""

    base_offset: int
    batch_length: int
    """Bytes after this field; the whole batch is ``size_bytes``."""
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    """Of the first record; the delete horizon when ``has_delete_horizon``."""
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        """Bytes of the whole batch."""
        return LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        """The offset of the last record (or, after compaction, of where it stood)."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Where the following batch begins."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """The compression codec's number; 5 to 7 have no meaning."""
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        """Whether the broker's clock gave the timestamps."""
        return self.attributes & LOG_APPEND_TIME_BIT != 0

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Whether it holds a marker for the protocol instead of somebody's records."""
        return self.attributes & CONTROL_BIT != 0

    @property
    def has_delete_horizon(self) -> bool:
        """Whether ``base_timestamp`` says when tombstones may go."""
        return self.attributes & DELETE_HORIZON_BIT != 0

    @property
    def has_producer_id(self) -> bool:
        """Whether an idempotent producer wrote it."""
        return self.producer_id >= 0

    @property
    def last_sequence(self) -> int:
        """The last record's sequence: 0 follows 2^31-1; -1 when there is none."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset_delta) & SEQUENCE_MAX


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at ``position``; whether the rest of the batch is there is for the caller to see."""
    try:
        header = _new_tuple(BatchHeader, _unpack_header(buffer, position))
    except StructError as error:
        raise CorruptBatchError(
            f"{len(buffer) - position} bytes are too few for a batch header of {HEADER_BYTES}."
        ) from error
    if header[3] != MAGIC:
        raise CorruptBatchError(f"Batch has magic {header[3]}, only {MAGIC} is known.")
    if header[1] < BATCH_LENGTH_MIN:
        raise CorruptBatchError(f"Batch length is {header[1]}, the least is {BATCH_LENGTH_MIN}.")
    return header


def crc_matches(buffer: Buffer, header: BatchHeader, position: int = 0) -> bool:
    """Whether the batch at ``position`` is complete and its bytes are those that were checksummed."""
    end = position + LOG_OVERHEAD + header[1]
    if end > len(buffer):
        return False
    return crc32c(memoryview(buffer)[position + CRC_START : end]) == header[4]


def stamp(buffer: WritableBuffer, base_offset: int, leader_epoch: int, position: int = 0) -> None:
    """Give the batch its place in the log. Outside the checksum, so that stays valid."""
    _pack_base_offset(buffer, position, base_offset)
    _pack_leader_epoch(buffer, position + _LEADER_EPOCH_AT, leader_epoch)


def stamp_log_append_time(buffer: WritableBuffer, timestamp: int, position: int = 0) -> None:
    """Make ``timestamp`` the time of all records, as ``message.timestamp.type=LogAppendTime`` asks."""
    header = read_header(buffer, position)
    _ATTRIBUTES.pack_into(buffer, position + _ATTRIBUTES_AT, header.attributes | LOG_APPEND_TIME_BIT)
    _MAX_TIMESTAMP.pack_into(buffer, position + _MAX_TIMESTAMP_AT, timestamp)
    write_crc(buffer, header.size_bytes, position)


def write_crc(buffer: WritableBuffer, size_bytes: int, position: int = 0) -> None:
    """Checksum the batch of ``size_bytes`` at ``position`` anew, after a change inside it."""
    crc = crc32c(memoryview(buffer)[position + CRC_START : position + size_bytes])
    _CRC.pack_into(buffer, position + _CRC_AT, crc)


def pack_header(buffer: WritableBuffer, header: BatchHeader, position: int = 0) -> None:
    """Write all fields of ``header``, its checksum as it stands there."""
    _HEADER.pack_into(buffer, position, *header)


def split_batches(buffer: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each complete batch; stops at a truncated tail, as consumers do."""
    position, end = 0, len(buffer)
    while position + HEADER_BYTES <= end:
        header = read_header(buffer, position)
        following = position + header.size_bytes
        if following > end:
            return
        yield position, header
        position = following
