from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.log_testing import DIRECTORY, make_batch, make_disk

from penstock.model.errors import CorruptLogError
from penstock.records.batch import BatchHeader, read_header, stamp
from penstock.storage import segment_lookup
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.segment import Segment
from penstock.storage.segment_lookup import (
    border_before,
    border_position,
    find_largest_timestamp,
    find_timestamp,
    header_at,
    locate,
    measure_largest_timestamp,
)

BASE = 1_000


def make(disk: MemoryFileSystem, batches: list[tuple[int, int]], *, interval: int) -> Segment:
    """A segment as a former process left it: batches of ``(record count, timestamp)``, indexes on file."""
    disk.make_directory(DIRECTORY)
    segment = Segment(disk, DIRECTORY, BASE, index_interval_bytes=interval, is_new=True)
    segment.adopt(disk.open(segment.path(), create=True))
    offset = BASE
    for count, timestamp in batches:
        batch = make_batch(*[b"value"] * count, timestamp=timestamp)
        stamp(batch, offset, 0)
        segment.file.write(segment.size, [batch])
        segment.take(read_header(batch), segment.size, len(batch))
        offset += count
    segment.publish_all()
    segment.finish_time_index()
    for write in segment.capture_indexes(is_final=True):
        write.run(disk)
    return reopened(disk, segment)


def reopened(disk: MemoryFileSystem, before: Segment) -> Segment:
    segment = Segment(disk, DIRECTORY, BASE, index_interval_bytes=before.index_interval_bytes, is_new=False)
    segment.size = segment.readable_size = before.size
    segment.next_offset = segment.readable_offset = before.next_offset
    return segment


def headers(segment: Segment) -> list[tuple[int, BatchHeader]]:
    return [*segment.walk()]


segments = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 60)), min_size=1, max_size=40)
intervals = st.sampled_from([0, 100, 500, 4096])

DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "none": lambda data: data,
    "missing": lambda data: None,
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "ones": lambda data: b"\x7f" * len(data),
    "descending": lambda data: data[::-1],
    "one more byte": lambda data: data + b"x",
}


def damage(disk: MemoryFileSystem, path: str, kind: str) -> None:
    data = DAMAGES[kind](disk.read_file(path))
    disk.unlink(path)
    if data is not None:
        disk.open(path, create=True).write(0, [data])


@settings(deadline=None)
@given(
    segments,
    intervals,
    st.sampled_from(sorted(DAMAGES)),
    st.sampled_from(sorted(DAMAGES)),
    st.integers(0, 250),
)
def test_searches_are_right_whatever_the_index_files_hold(
    batches: list[tuple[int, int]], interval: int, offset_damage: str, time_damage: str, wanted: int
) -> None:
    disk = make_disk()
    segment = make(disk, batches, interval=interval)
    everything = headers(segment)
    damage(disk, segment.path(".index"), offset_damage)
    damage(disk, segment.path(".timeindex"), time_damage)
    offset = BASE + wanted
    expected = next((found for found in everything if found[1].last_offset >= offset), None)
    assert locate(segment, offset) == expected
    assert border_position(segment, offset) == next(
        (position for position, header in everything if header.base_offset >= offset), segment.readable_size
    )
    border = border_before(segment, wanted * 10)
    assert border is None or (border in everything and border.position <= wanted * 10)
    by_time = [found for found in everything if found[1].max_timestamp >= wanted]
    assert find_timestamp(segment, wanted, BASE) == (by_time[0] if by_time else None)
    largest = max(header.max_timestamp for _, header in everything)
    assert measure_largest_timestamp(segment) == largest
    assert find_largest_timestamp(segment) == next(f for f in everything if f[1].max_timestamp == largest)


@settings(deadline=None)
@given(segments, intervals, st.integers(0, 3_000), st.integers(1, 255))
def test_searches_are_right_after_any_change_of_a_byte_of_an_index(
    batches: list[tuple[int, int]], interval: int, position: int, change: int
) -> None:
    for suffix in (".index", ".timeindex"):
        disk = make_disk()
        segment = make(disk, batches, interval=interval)
        everything = headers(segment)
        content = bytearray(disk.read_file(segment.path(suffix)))
        if content:
            content[position % len(content)] ^= change
            disk.open(segment.path(suffix)).write(0, [content])
        for offset in range(BASE, segment.readable_offset):
            assert locate(segment, offset) == next(f for f in everything if f[1].last_offset >= offset)
        for timestamp in range(70):
            younger = (found for found in everything if found[1].max_timestamp >= timestamp)
            assert find_timestamp(segment, timestamp, BASE) == next(younger, None)


def test_long_way_from_an_entry_makes_the_indexes_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = make_disk()
    segment = make(disk, [(1, n) for n in range(50)], interval=0)
    damage(disk, segment.path(".index"), "empty")
    monkeypatch.setattr(segment_lookup, "WALK_BYTES_MAX", 1_000)
    assert locate(segment, BASE + 5) is not None
    assert len(segment.offset_index) == 0
    assert locate(segment, BASE + 40) is not None
    assert len(segment.offset_index) == 49


def test_nothing_is_found_behind_what_is_readable() -> None:
    segment = make(make_disk(), [(1, 5), (1, 6), (1, 7)], interval=0)
    size = segment.size // 3
    segment.readable_size, segment.readable_offset = 2 * size, BASE + 2
    assert locate(segment, BASE + 2) is None
    assert find_timestamp(segment, 7, BASE) is None
    assert border_position(segment, BASE + 3) == 2 * size


def test_nonsense_in_the_log_is_reported_with_its_place() -> None:
    disk = make_disk()
    segment = make(disk, [(1, 5), (1, 6)], interval=4096)
    segment.file.write(segment.size // 2, [b"nonsense" * 8])
    with pytest.raises(CorruptLogError, match="position"):
        header_at(segment, segment.size // 2)
    with pytest.raises(CorruptLogError, match="position"):
        locate(segment, BASE + 1)
