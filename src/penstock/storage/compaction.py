"""One pass of compaction over one log: what to keep is found out first, then segments are written anew.

A pass goes over the dirty part and remembers the newest record of every key, as far as the memory budget
goes. Then it goes over everything from the log's beginning and writes, group by group, segments with what is
still wanted:

- of each key the newest record; a tombstone until its delete horizon, which the first pass to meet it sets
- no record of an aborted transaction
- a transaction's marker while any of its batches is left, and then until the marker's own delete horizon
- the newest batch of each producer the log remembers, and the last batch of every group, emptied if need be:
  the one keeps sequences, the other lets segments join without a gap

Work comes in slices, so that a thread that does it can let others have the interpreter. Nothing the log uses
is touched: putting a finished group in place is ``penstock.storage.segment_swap``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.model.errors import CorruptLogError
from penstock.model.ids import NO_EPOCH
from penstock.records.batch import BatchHeader, read_header
from penstock.records.control import ControlType, decode_control_record
from penstock.records.errors import CorruptBatchError
from penstock.storage.batch_rewriting import empty_batch, keep_records, keep_with_horizon
from penstock.storage.batch_scan import BatchChecker, CheckedRun
from penstock.storage.cleaned_segment import CleanedSegment
from penstock.storage.cleaned_transactions import AbortedRanges, CleanedTransactions
from penstock.storage.filesystem import BytesLike, FileSystem
from penstock.storage.key_map import TOMBSTONE, KeyMap
from penstock.storage.record_keys import RecordKeys, batch_payload, read_keys, record_starts
from penstock.storage.segment import Segment
from penstock.storage.transaction_index import AbortedTransaction

SLICE_BYTES = 64 * 1024
"""Read and worked on at once: a millisecond or so."""


class NewestBatch(NamedTuple):
    """What the log knows of a producer's newest durable batch."""

    last_offset: int | None
    """None when the newest thing of the producer's epoch is a marker."""
    epoch: int
    is_sure: bool = True
    """Whether no older batch can become the newest, because what follows it is lost in an outage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOrder:
    """Everything a pass goes by, as it was when the pass began."""

    directory: str
    #: Closed, durable, wholly below the first uncleanable offset; oldest first, never empty.
    segments: Sequence[Segment]
    first_dirty_offset: int
    now: int
    delete_retention_ms: int
    map_bytes: int
    index_interval_bytes: int
    aborted: Sequence[AbortedTransaction]
    newest_batches: Mapping[int, NewestBatch]


@dataclass(slots=True)
class CompactionTotals:
    """What a pass has done so far."""

    mapped_records: int = 0
    read_records: int = 0
    read_bytes: int = 0
    kept_records: int = 0
    kept_bytes: int = 0


class Compaction:
    """A pass: ``map_keys`` to the end, then ``clean`` for one group after the other."""

    def __init__(self, filesystem: FileSystem, order: CompactionOrder) -> None:
        self.order = order
        self.totals = CompactionTotals()
        #: Records at or behind it are left as they are; the next pass begins there.
        self.end_offset = order.segments[-1].next_offset
        self._filesystem = filesystem
        self._map = KeyMap(order.map_bytes)
        self._transactions = CleanedTransactions(order.aborted)
        #: How many fates of the map are behind us.
        self._fates_used = 0
        # The last batch and the last marker, in the dirty part, of producers about whom nobody is sure.
        self._newest_dirty: dict[tuple[int, bool], int] = {}

    def map_keys(self) -> Iterator[int]:
        """Find each key's newest record in the dirty part; answers after each slice how much was read."""
        aborted = AbortedRanges(self.order.aborted)
        for segment in self.order.segments:
            if segment.next_offset <= self.order.first_dirty_offset:
                continue
            for run in self._read(segment):
                for position, header in run.batches:
                    self._note_producer(header)
                    if not self._is_dirty(header) or header.is_control:
                        continue
                    if not self._map.has_room_for(header.record_count):
                        self.end_offset = header.base_offset
                        return
                    if aborted.cover(header):
                        self._map.skip(header.record_count)
                    else:
                        keys = _keys(header, _part(run, position, header))
                        self._map.add(keys.keys, keys.tombstones)
                    self.totals.mapped_records += header.record_count
                yield len(run.data)

    def clean(self, segments: Sequence[Segment], cleaned: CleanedSegment) -> Iterator[int]:
        """Write what is wanted of some neighbouring segments; answers after each slice how much was moved."""
        for segment in segments:
            last_end = segment.readable_size if segment is segments[-1] else None
            for run in self._read(segment):
                before = cleaned.segment.size
                for position, header in run.batches:
                    data = _part(run, position, header)
                    is_last = position + header.size_bytes == last_end
                    kept = self._clean_batch(header, data, cleaned, is_last=is_last)
                    if kept is data:
                        cleaned.add(header, data)
                    elif kept is not None:
                        cleaned.add(read_header(kept), kept)
                    self.totals.read_records += header.record_count
                self.totals.read_bytes += len(run.data)
                yield len(run.data) + cleaned.segment.size - before
        cleaned.finish()
        self.totals.kept_records += cleaned.record_count
        self.totals.kept_bytes += cleaned.segment.size

    def _read(self, segment: Segment) -> Iterator[CheckedRun]:
        """Every batch of a segment, checked: what is rotten must not be given a good checksum."""
        file = self._filesystem.open(segment.path())
        try:
            checker = BatchChecker(
                file,
                0,
                segment.readable_size,
                expected_offset=segment.base_offset,
                latest_epoch=NO_EPOCH,
                chunk_bytes=SLICE_BYTES,
            )
            checker.gaps_below = segment.gaps_below
            yield from checker.runs()
            if checker.bad is not None:
                raise CorruptLogError(
                    f"{segment.path()}, position {checker.bad.position}: {checker.bad.reason}"
                )
        finally:
            file.close()

    def _is_dirty(self, header: BatchHeader) -> bool:
        return header.last_offset >= self.order.first_dirty_offset

    def _clean_batch(
        self, header: BatchHeader, data: memoryview, cleaned: CleanedSegment, *, is_last: bool
    ) -> BytesLike | None:
        """What stays of a batch: itself, another, or nothing."""
        is_kept = is_last or self._is_newest(header)
        if header.is_control:
            return self._clean_marker(header, data, cleaned, is_kept=is_kept)
        is_aborted = self._transactions.meet_batch(header)
        if header.base_offset >= self.end_offset:
            return data
        fates, keys = self._fates(header, data, is_aborted=is_aborted)
        if header.has_delete_horizon and header.base_timestamp <= self.order.now:
            fates = fates.replace(_TOMBSTONE_BYTE, b"\0")
        if not any(fates):
            if not is_kept or header.record_count == 0:
                return data if is_kept else None
            return empty_batch(header)
        has_new_tombstones = TOMBSTONE in fates and not header.has_delete_horizon
        if 0 not in fates and not has_new_tombstones:
            return data
        payload = batch_payload(data, header)
        starts = keys.starts if keys else record_starts(payload, header.record_count)
        if has_new_tombstones:
            return keep_with_horizon(header, payload, starts, fates, horizon=self._horizon)
        return keep_records(header, payload, starts, fates)

    def _fates(
        self, header: BatchHeader, data: memoryview, *, is_aborted: bool
    ) -> tuple[bytearray, RecordKeys | None]:
        """What becomes of each record, and its keys if they had to be read."""
        if self._is_dirty(header):
            start = self._fates_used
            self._fates_used += header.record_count
            return self._map.fates[start : self._fates_used], None
        if is_aborted:
            return bytearray(header.record_count), None
        keys = _keys(header, data)
        return self._map.fates_of_older(keys.keys, keys.tombstones), keys

    def _clean_marker(
        self, header: BatchHeader, data: memoryview, cleaned: CleanedSegment, *, is_kept: bool
    ) -> BytesLike | None:
        """A marker goes once its transaction's batches are gone, and its delete horizon is past."""
        if header.record_count == 0:
            return data if is_kept else None
        control_type, _ = _decode_control(header, data)
        if control_type not in (ControlType.ABORT, ControlType.COMMIT):
            return data
        if self._transactions.meet_marker(header) or header.base_offset >= self.end_offset:
            aborted = self._transactions.aborted_at(header)
            if aborted is not None:
                cleaned.add_aborted(aborted)
            return data
        if is_kept:
            return data
        if header.has_delete_horizon:
            return None if header.base_timestamp <= self.order.now else data
        payload = batch_payload(data, header)
        starts = record_starts(payload, header.record_count)
        fates = bytearray(b"\1" * header.record_count)
        return keep_with_horizon(header, payload, starts, fates, horizon=self._horizon)

    def _note_producer(self, header: BatchHeader) -> None:
        if header.producer_id >= 0:
            newest = self.order.newest_batches.get(header.producer_id)
            if newest is not None and not newest.is_sure:
                self._newest_dirty[header.producer_id, header.is_control] = header.last_offset

    def _is_newest(self, header: BatchHeader) -> bool:
        """Whether the log's idea of the producer, sequence or epoch, rests on this batch, or might."""
        newest = self.order.newest_batches.get(header.producer_id)
        if newest is None:
            return False
        if not newest.is_sure:
            found = self._newest_dirty.get((header.producer_id, header.is_control))
            return not self._is_dirty(header) or header.last_offset == found
        if newest.last_offset is None:
            return header.is_control and header.producer_epoch == newest.epoch
        return header.last_offset == newest.last_offset

    @property
    def _horizon(self) -> int:
        return self.order.now + self.order.delete_retention_ms


_TOMBSTONE_BYTE = bytes([TOMBSTONE])


def _part(run: CheckedRun, position: int, header: BatchHeader) -> memoryview:
    start = position - run.position
    return run.data[start : start + header.size_bytes]


def _keys(header: BatchHeader, data: memoryview) -> RecordKeys:
    try:
        return read_keys(batch_payload(data, header), header.record_count)
    except CorruptBatchError as error:
        raise CorruptLogError(f"The batch at offset {header.base_offset}: {error.message}") from error


def _decode_control(header: BatchHeader, data: memoryview) -> tuple[ControlType | None, object]:
    try:
        return decode_control_record(data)
    except CorruptBatchError as error:
        raise CorruptLogError(f"The batch at offset {header.base_offset}: {error.message}") from error
