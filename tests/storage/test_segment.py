from tests.storage.log_testing import DIRECTORY, make_batch, make_disk

from penstock.records.batch import read_header, stamp
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.offset_index import OffsetEntry
from penstock.storage.segment import Segment, file_name
from penstock.storage.time_index import TimeEntry


def make(
    disk: MemoryFileSystem, timestamps: list[int], *, interval: int = 0, base_offset: int = 100
) -> Segment:
    """A readable segment with one batch of two records, 80 bytes each or so, per timestamp."""
    disk.make_directory(DIRECTORY)
    segment = Segment(disk, DIRECTORY, base_offset, index_interval_bytes=interval, is_new=True)
    segment.adopt(disk.open(segment.path(), create=True))
    for number, timestamp in enumerate(timestamps):
        batch = make_batch(b"one", b"two", timestamp=timestamp)
        stamp(batch, base_offset + number * 2, 0)
        segment.file.write(segment.size, [batch])
        segment.take(read_header(batch), segment.size, len(batch))
    segment.publish_all()
    return segment


def test_files_are_named_by_the_base_offset_in_twenty_digits() -> None:
    assert file_name(170_210, ".timeindex") == "00000000000000170210.timeindex"
    segment = make(make_disk(), [])
    assert segment.path() == f"{DIRECTORY}/00000000000000000100.log"
    assert "00000000000000000100.log, size=0" in repr(segment)


def test_batches_are_indexed_once_more_than_the_interval_went_by() -> None:
    segment = make(make_disk(), [1_000] * 10, interval=200)
    size = segment.size // 10
    assert 2 * size < 200 < 3 * size
    entries = [segment.offset_index.before_position(n * size) for n in range(10)]
    assert entries[2] is None
    assert entries[3] == OffsetEntry(107, 3 * size)
    assert entries[6] == OffsetEntry(113, 6 * size)


def test_time_index_has_the_largest_timestamp_and_the_first_batch_that_has_it() -> None:
    segment = make(make_disk(), [50, 90, 70, 90, 80, 95])
    assert segment.time_index.last_entry() == TimeEntry(96, 111)
    assert segment.time_index.before_timestamp(96) == TimeEntry(91, 103)
    assert segment.largest_timestamp == 96
    assert segment.first_timestamp == 51


def test_finished_time_index_ends_with_the_largest_timestamp() -> None:
    segment = make(make_disk(), [50, 90, 70], interval=4096)
    assert len(segment.time_index) == 0
    segment.finish_time_index()
    assert segment.time_index.last_entry() == TimeEntry(91, 103)
    segment.finish_time_index()
    assert len(segment.time_index) == 1


def test_rebuilt_indexes_equal_the_original_ones() -> None:
    disk = make_disk()
    segment = make(disk, [50, 90, 70, 90, 80, 95], interval=100)
    segment.finish_time_index()
    for write in segment.capture_indexes(is_final=True):
        write.run(disk)
    names = [segment.path(suffix) for suffix in (".index", ".timeindex")]
    original = [disk.read_file(name) for name in names]
    segment.rebuild_indexes()
    for write in segment.capture_indexes(is_final=True):
        write.run(disk)
    assert [disk.read_file(name) for name in names] == original
    assert all(original)


def test_rebuilding_keeps_what_is_known_of_batches_that_are_not_written_yet() -> None:
    segment = make(make_disk(), [50, 60])
    segment.index_batch(500, 105, segment.size, 80)
    segment.size += 80
    segment.next_offset = 106
    segment.rebuild_indexes()
    assert segment.readable_largest == (61, 103)
    assert segment.largest_timestamp == 500


def test_cut_forgets_batches_entries_and_ranges_behind_it() -> None:
    segment = make(make_disk(), [50, 60, 70, 80])
    size = segment.size // 4
    segment.damaged.add(3 * size, 4 * size)
    segment.cut(2 * size, 104)
    assert (segment.size, segment.next_offset) == (2 * size, 104)
    assert (segment.readable_size, segment.readable_offset) == (2 * size, 104)
    assert segment.offset_index.last_entry() == OffsetEntry(103, size)
    assert segment.time_index.last_entry() == TimeEntry(61, 103)
    assert segment.checked.covers(0, 2 * size)
    assert not segment.checked.covers(0, 3 * size)
    assert len(segment.damaged) == 0
    assert segment.readable_largest[0] is None


def test_cut_to_nothing_starts_anew() -> None:
    segment = make(make_disk(), [50, 60])
    segment.cut(0, 100)
    assert segment.first_timestamp is None
    assert segment.largest_timestamp == -1
    assert len(segment.offset_index) == 0


def test_settled_indexes_have_nothing_more_to_write() -> None:
    disk = make_disk()
    segment = make(disk, [50, 60])
    writes = segment.capture_indexes(is_final=True)
    assert [write.path for write in writes] == [segment.path(".index"), segment.path(".timeindex")]
    for write in writes:
        write.run(disk)
    segment.settle_indexes(writes)
    assert segment.capture_indexes(is_final=True) == []


def test_file_is_opened_when_needed_and_closed_once() -> None:
    disk = make_disk()
    segment = make(disk, [50])
    segment.close()
    segment.close()
    assert segment.file.size() == segment.size
