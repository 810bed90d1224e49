"""Which batches of a fetch become rows, and where to fetch on.

The order is that of Kafka's own consumers: batches one after another, a cut-off one at the end left alone;
control batches and those of aborted transactions never become rows, but the offsets go on behind them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from penstock.records.batch import (
    HEADER_BYTES,
    MAGIC,
    BatchHeader,
    Buffer,
    crc_matches,
    read_header,
)
from penstock.records.control import ControlType, decode_control_record
from penstock.records.errors import CorruptBatchError
from penstock.spark.columns.errors import Origin

ROWS_MAX = 8_000_000
"""Of one decoded fetch: a column of the longest topic name stays below Arrow's 2 GiB. What follows is left to
the next fetch."""

_MAGIC_AT = 16
_OFFSET_END = 2**63


class AbortedTransaction(Protocol):
    """What a fetch's answer says of an aborted transaction."""

    @property
    def producer_id(self) -> int:
        """Whose it was."""

    @property
    def first_offset(self) -> int:
        """Where it began in this partition; its abort marker ends it."""


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
    filtering = AbortedFilter(aborted, origin=origin)
    for position, header in _split(records, origin=origin):
        if header.base_offset >= window.end_offset:
            next_offset = window.end_offset
            break
        if rows and rows + header.record_count > ROWS_MAX:
            break
        if check_crc and not crc_matches(records, header, position):
            raise origin.unreadable(header.base_offset, "The batch fails its checksum.")
        is_aborted = filtering.is_aborted(records, header, position)
        next_offset = max(next_offset, header.next_offset)
        if is_aborted or header.is_control or not header.record_count:
            continue
        if header.next_offset > window.first_offset:
            found.append(FoundBatch(position=position, header=header))
            rows += header.record_count
    return Found(batches=found, next_offset=max(window.first_offset, min(next_offset, window.end_offset)))


class AbortedFilter:
    """Which batches belong to aborted transactions, batch after batch, as Kafka's consumers tell it.

    A producer's transactional batches are dropped from where its aborted transaction began to its abort
    marker; then it is believed again.
    """

    def __init__(self, aborted: Sequence[AbortedTransaction], *, origin: Origin) -> None:
        self._waiting = sorted(aborted, key=lambda one: one.first_offset, reverse=True)
        self._producer_ids: set[int] = set()
        self._origin = origin

    def is_aborted(self, records: Buffer, header: BatchHeader, position: int) -> bool:
        """Whether this batch, which follows those asked about before, is to be dropped."""
        if not header.has_producer_id:
            return False
        while self._waiting and self._waiting[-1].first_offset <= header.last_offset:
            self._producer_ids.add(self._waiting.pop().producer_id)
        if header.producer_id not in self._producer_ids:
            return False
        if header.is_control:
            if self._is_abort_marker(records, header, position):
                self._producer_ids.discard(header.producer_id)
            return False
        return header.is_transactional

    def _is_abort_marker(self, records: Buffer, header: BatchHeader, position: int) -> bool:
        if not header.record_count:
            return False
        try:
            return decode_control_record(records, position)[0] is ControlType.ABORT
        except CorruptBatchError as error:
            raise self._origin.unreadable(header.base_offset, error.message) from error


def _split(records: Buffer, *, origin: Origin) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each whole batch."""
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
