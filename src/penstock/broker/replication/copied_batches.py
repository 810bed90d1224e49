"""Batches as a leader sent them, checked before any of them gets into the log.

A follower stores bytes as they come. So whatever spoiled them on the way, or on the leader's disk, must be
noticed here: every batch is checked against its checksum, and against the place it claims.
"""

from typing import NamedTuple

from penstock.records.batch import (
    BatchHeader,
    Buffer,
    CorruptBatchError,
    WritableBuffer,
    crc_matches,
    split_batches,
)
from penstock.replication.follower_events import FetchFrom

COPY_BYTES_MAX = 64 * 1024
"""So few bytes are copied out of the answer, whose buffer would otherwise be kept for their sake."""


class CopiedBatch(NamedTuple):
    """A batch and its header."""

    batch: WritableBuffer
    header: BatchHeader


def copied_batches(records: Buffer, asked: FetchFrom) -> list[CopiedBatch]:
    """The whole batches of an answer that the log lacks; ``CorruptBatchError`` if anything is wrong."""
    if not len(records):
        return []
    view = memoryview(bytearray(records) if len(records) <= COPY_BYTES_MAX else records)
    found: list[CopiedBatch] = []
    offset, epoch = asked.offset, asked.last_fetched_epoch
    for position, header in split_batches(view):
        if header.next_offset <= asked.offset:
            continue
        is_first = not found
        if not crc_matches(view, header, position):
            raise CorruptBatchError(f"The batch at offset {header.base_offset} fails its checksum.")
        if header.base_offset < offset and not is_first:
            raise CorruptBatchError(f"Offset {header.base_offset} comes after {offset - 1}.")
        if not epoch <= header.leader_epoch <= asked.current_leader_epoch:
            raise CorruptBatchError(
                f"The batch at offset {header.base_offset} is of epoch {header.leader_epoch}, outside "
                f"{epoch} to {asked.current_leader_epoch}."
            )
        found.append(CopiedBatch(view[position : position + header.size_bytes], header))
        offset, epoch = header.next_offset, header.leader_epoch
    if not found:
        raise CorruptBatchError(f"{len(records)} bytes have come, and no whole batch.")
    return found
