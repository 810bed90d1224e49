"""Which batches of a fetch become rows, and where to fetch on.

The order is that of Kafka's own consumers: batches one after another, a cut-off one at the end left alone;
control batches and those of aborted transactions never become rows, but the offsets go on behind them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.records.aborted import AbortedFilter, AbortedTransaction
from penstock.records.batch import (
    HEADER_BYTES,
    MAGIC,
    BatchHeader,
    Buffer,
    crc_matches,
    read_header,
)
from penstock.records.errors import CorruptBatchError
from penstock.spark.columns.errors import Origin

ROWS_MAX = 8_000_000
"""Of one decoded fetch: a column of the longest topic name stays below Arrow's 2 GiB. What follows is left to
the next fetch."""

_MAGIC_AT = 16
_OFFSET_END = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The offsets that are wanted: ``first_offset`` and on, below ``end_offset``."""

    first_offset: int
    end_offset: int


class FoundBatch(NamedTuple):
    """A batch that has rows in the window. There may be thousands of them, so it is a plain tuple."""

    position: int
    header: BatchHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a fetch holds of the window."""

    batches: list[FoundBatch]
    next_offset: int


def find_batches(
    records: Buffer,
    *,
    origin: Origin,
    window: Window,
    aborted: Sequence[AbortedTransaction],
    check_crc: bool,
) -> Found:
    """The batches of ``records`` with rows in ``window``; those of ``aborted`` transactions are left out."""
    found: list[FoundBatch] = []
    next_offset, rows = window.first_offset, 0
    filtering = AbortedFilter(aborted)
    for position, header in whole_batches(records, origin=origin):
        if header.base_offset >= window.end_offset:
            next_offset = window.end_offset
            break
        if rows and rows + header.record_count > ROWS_MAX:
            break
        if check_crc and not crc_matches(records, header, position):
            raise origin.unreadable(header.base_offset, "The batch fails its checksum.")
        is_aborted = _is_aborted(filtering, records, FoundBatch(position, header), origin=origin)
        next_offset = max(next_offset, header.next_offset)
        if is_aborted or header.is_control or not header.record_count:
            continue
        if header.next_offset > window.first_offset:
            found.append(FoundBatch(position=position, header=header))
            rows += header.record_count
    return Found(batches=found, next_offset=max(window.first_offset, min(next_offset, window.end_offset)))


def whole_batches(records: Buffer, *, origin: Origin) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each whole batch; what is none raises, with its place, however short it is."""
    position, end, next_offset = 0, len(records), 0
    while end - position > _MAGIC_AT:
        _check_magic(records, position, origin)
        if end - position < HEADER_BYTES:
            return
        header = _checked_header(records, position, origin=origin, next_offset=next_offset)
        if end - position < header.size_bytes:
            return
        yield position, header
        position += header.size_bytes
        next_offset = header.next_offset


def _is_aborted(filtering: AbortedFilter, records: Buffer, found: FoundBatch, *, origin: Origin) -> bool:
    try:
        return filtering.is_aborted(records, found.header, found.position)
    except CorruptBatchError as error:
        raise origin.unreadable(found.header.base_offset, error.message) from error


def _check_magic(records: Buffer, position: int, origin: Origin) -> None:
    magic = records[position + _MAGIC_AT]
    if magic == MAGIC:
        return
    offset = int.from_bytes(records[position : position + 8], "big", signed=True)
    if magic < MAGIC:
        raise origin.unreadable(
            offset,
            f"It is in the format of magic {magic}, which Kafka left with 0.11; only {MAGIC} is read. "
            "Copy the topic with a client that reads both, or start behind this offset.",
        )
    raise origin.unreadable(offset, f"There is no magic {magic}.")


def _checked_header(records: Buffer, position: int, *, origin: Origin, next_offset: int) -> BatchHeader:
    try:
        header = read_header(records, position)
    except CorruptBatchError as error:
        offset = int.from_bytes(records[position : position + 8], "big", signed=True)
        raise origin.unreadable(offset, error.message) from error
    if header.base_offset < next_offset:
        raise origin.unreadable(header.base_offset, f"It stands behind offset {next_offset - 1}.")
    if header.last_offset_delta < 0 or header.next_offset >= _OFFSET_END:
        raise origin.unreadable(header.base_offset, f"Its last offset delta is {header.last_offset_delta}.")
    if not 0 <= header.record_count <= min(ROWS_MAX, header.last_offset_delta + 1):
        raise origin.unreadable(header.base_offset, f"It claims {header.record_count} records.")
    return header
