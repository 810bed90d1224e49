"""Finding batches inside one segment, by offset, position or timestamp.

An index entry is believed only after a look at the batch it names: the position must hold a batch that ends
at the entry's offset and, for a timestamp, that has it. When an entry lies, or an index file is missing or
cut, the indexes are built anew from the log and the search is repeated. So indexes can make a search slow,
never wrong.
"""

from collections.abc import Callable, Iterator

from penstock.model.errors import CorruptLogError
from penstock.records.batch import HEADER_BYTES, BatchHeader, read_header
from penstock.records.errors import CorruptBatchError
from penstock.storage.batch_scan import Located
from penstock.storage.offset_index import OffsetEntry
from penstock.storage.segment import NO_TIMESTAMP, Segment
from penstock.storage.sparse_index import DamagedIndexError
from penstock.storage.time_index import TimeEntry

WALK_BYTES_MAX = 16 * 1024 * 1024
"""A longer way from an index entry to the batch looked for means that entries are missing."""


def locate(segment: Segment, offset: int) -> Located | None:
    """The first readable batch that ends at or behind ``offset``."""
    if offset >= segment.readable_offset:
        return None
    start = noted_before(segment, offset)
    following = walk_from(segment, start)
    found = next((located for located in following if located.header.last_offset >= offset), None)
    if found is not None and found.position - (start.position if start else 0) > WALK_BYTES_MAX:
        segment.rebuild_indexes()
    return found


def noted_before(segment: Segment, offset: int) -> Located | None:
    """The last batch in the index that ends at or before ``offset``."""
    return _believed(segment, lambda: segment.offset_index.before_offset(offset))


def walk_from(segment: Segment, start: Located | None) -> Iterator[Located]:
    """Each readable batch from one that was found before; from the first if None."""
    return segment.walk() if start is None else segment.walk(start.position, start.header.base_offset)


def header_at(segment: Segment, position: int) -> BatchHeader:
    """The header of the batch that begins at ``position``."""
    try:
        return read_header(segment.file.read(position, HEADER_BYTES))
    except CorruptBatchError as error:
        raise CorruptLogError(f"{segment.path()}, position {position}: {error.message}") from error


def border_position(segment: Segment, end_offset: int) -> int:
    """The position behind the last readable batch that begins before ``end_offset``."""
    if end_offset >= segment.readable_offset:
        return segment.readable_size
    if end_offset <= segment.base_offset:
        return 0
    found = locate(segment, end_offset)
    if found is None:
        return segment.readable_size
    return found.position if found.header.base_offset >= end_offset else found.end


def border_before(segment: Segment, position: int) -> Located | None:
    """Some readable batch that begins at or before ``position``, as near as the index knows one."""
    position = min(position, segment.readable_size - 1)
    return _believed(segment, lambda: segment.offset_index.before_position(position))


def find_timestamp(segment: Segment, timestamp: int, start_offset: int) -> Located | None:
    """The first readable batch, from ``start_offset`` on, with a record of ``timestamp`` or later."""
    entry = _believed_time(segment, timestamp)
    if entry is not None:
        start_offset = max(start_offset, entry.last_offset)
    start = locate(segment, start_offset)
    if start is None:
        return None
    following = walk_from(segment, start)
    return next((found for found in following if found.header.max_timestamp >= timestamp), None)


def find_largest_timestamp(segment: Segment) -> Located | None:
    """The first readable batch with the largest timestamp of those that are readable."""
    measure_largest_timestamp(segment)
    return locate(segment, segment.readable_largest[1])


def measure_largest_timestamp(segment: Segment) -> int:
    """The largest timestamp of what is readable: known, or found by reading.

    A time index that lost its end is not seen to have lost it, and retention must not believe it. So
    every batch behind the one that its newest entry names is looked at; usually that is one or two.
    """
    if segment.readable_largest[0] is None:
        _look_from(segment, lambda newest: newest)
    largest = segment.readable_largest[0]
    return NO_TIMESTAMP if largest is None else largest


def trust_largest_timestamp(segment: Segment) -> None:
    """Take over the largest timestamp of a segment whose index files are known to be whole.

    Its newest time entry then has the largest timestamp of everything before the newest offset entry.
    """
    _look_from(segment, lambda _: noted_before(segment, segment.readable_offset))


def _look_from(segment: Segment, start: Callable[[Located], Located | None]) -> None:
    """Find the largest timestamp from the newest time entry and the batches from ``start`` on."""
    try:
        entry = segment.time_index.last_entry()
        newest = None if entry is None else locate(segment, entry.last_offset)
    except DamagedIndexError:
        segment.rebuild_indexes()
        return
    if entry is not None and not _names(entry, newest):
        segment.rebuild_indexes()
        return
    largest = entry or TimeEntry(NO_TIMESTAMP, segment.base_offset)
    segment.resume_indexing(*largest)
    for _, header in walk_from(segment, start(newest) if newest else None):
        if header.max_timestamp > largest.timestamp:
            largest = TimeEntry(header.max_timestamp, header.last_offset)
    segment.largest_timestamp, segment.offset_of_largest_timestamp = largest
    segment.readable_largest = largest


def _believed(segment: Segment, look_up: Callable[[], OffsetEntry | None]) -> Located | None:
    """The batch that the index names, if it is the one; otherwise the one that a new index names."""
    try:
        entry = look_up()
        if entry is None:
            return None
        located = _named_by(segment, entry)
        if located is not None:
            return located
    except DamagedIndexError:
        pass
    segment.rebuild_indexes()
    entry = look_up()
    return None if entry is None else _named_by(segment, entry)


def _named_by(segment: Segment, entry: OffsetEntry) -> Located | None:
    """The batch at the entry's position, None if that is not the entry's batch."""
    if not 0 <= entry.position <= segment.readable_size - HEADER_BYTES:
        return None
    try:
        header = header_at(segment, entry.position)
    except CorruptLogError:
        return None
    return Located(entry.position, header) if header.last_offset == entry.last_offset else None


def _believed_time(segment: Segment, timestamp: int) -> TimeEntry | None:
    """The time index's answer about what is readable, if it is true; otherwise that of a new index."""
    try:
        entry = _readable_time(segment, timestamp)
        if entry is None or _names(entry, locate(segment, entry.last_offset)):
            return entry
    except DamagedIndexError:
        pass
    segment.rebuild_indexes()
    return _readable_time(segment, timestamp)


def _readable_time(segment: Segment, timestamp: int) -> TimeEntry | None:
    """The last entry before ``timestamp`` whose batch can be read; some may not be written yet."""
    entry = segment.time_index.before_timestamp(timestamp)
    while entry is not None and entry.last_offset >= segment.readable_offset:
        entry = segment.time_index.before_timestamp(entry.timestamp)
    return entry


def _names(entry: TimeEntry, located: Located | None) -> bool:
    """Whether the batch is the one that the entry claims."""
    if located is None or located.header.last_offset != entry.last_offset:
        return False
    return located.header.max_timestamp == entry.timestamp
