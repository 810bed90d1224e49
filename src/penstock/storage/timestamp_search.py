"""Finding records by timestamp: down to the record, which means looking inside one batch."""

from typing import NamedTuple

from penstock.records.record import Record, decode_records
from penstock.storage.batch_scan import Located
from penstock.storage.segment import Segment
from penstock.storage.segment_lookup import (
    find_largest_timestamp,
    find_timestamp,
    measure_largest_timestamp,
)
from penstock.storage.segments import Segments


class TimestampOffset(NamedTuple):
    """A record by its place and its time."""

    offset: int
    timestamp: int


def first_at_or_after(segments: Segments, timestamp: int, start_offset: int) -> TimestampOffset | None:
    """The first record, from ``start_offset`` on, that has ``timestamp`` or a later one."""
    for segment in segments.from_offset(start_offset):
        if measure_largest_timestamp(segment) < timestamp:
            continue
        located = find_timestamp(segment, timestamp, start_offset)
        while located is not None:
            for record in _records(segment, located):
                if record.timestamp >= timestamp and record.offset >= start_offset:
                    return TimestampOffset(record.offset, record.timestamp)
            # The header promised more than its records from start_offset on keep.
            located = find_timestamp(segment, timestamp, located.header.next_offset)
    return None


def newest_timestamp(segments: Segments, start_offset: int) -> TimestampOffset | None:
    """The first record that has the largest timestamp of all."""
    candidates = [segment for segment in segments.from_offset(start_offset) if segment.readable_size]
    if not candidates:
        return None
    segment = max(candidates, key=measure_largest_timestamp)
    located = find_largest_timestamp(segment)
    if located is None:
        return None
    largest = located.header.max_timestamp
    for record in _records(segment, located):
        if record.timestamp == largest:
            return TimestampOffset(record.offset, record.timestamp)
    return TimestampOffset(located.header.last_offset, largest)


def _records(segment: Segment, located: Located) -> list[Record]:
    return decode_records(segment.file.read(located.position, located.end - located.position))
