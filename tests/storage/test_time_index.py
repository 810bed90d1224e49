import pytest
from tests.storage.log_testing import make_disk

from penstock.storage.sparse_index import DamagedIndexError
from penstock.storage.time_index import ENTRY, TimeEntry, TimeIndex


def test_file_has_kafka_s_entries_timestamp_and_relative_offset() -> None:
    disk = make_disk()
    index = TimeIndex(disk, "/data/x.timeindex", 1_000, is_new=True)
    index.add(1_700_000_000_000, 1_004)
    captured = index.capture(is_final=True)
    assert captured is not None
    captured.run(disk)
    assert disk.read_file("/data/x.timeindex").hex() == "0000018bcfe5680000000004"


def test_add_ignores_a_timestamp_that_did_not_grow() -> None:
    index = TimeIndex(make_disk(), "/data/x.timeindex", 0, is_new=True)
    index.add(100, 1)
    index.add(100, 2)
    index.add(99, 3)
    index.add(101, 4)
    assert len(index) == 2
    assert index.last_entry() == TimeEntry(101, 4)


def test_lookups_are_in_absolute_offsets() -> None:
    index = TimeIndex(make_disk(), "/data/x.timeindex", 1_000, is_new=True)
    index.add(100, 1_010)
    index.add(200, 1_020)
    assert index.before_timestamp(100) is None
    assert index.before_timestamp(101) == TimeEntry(100, 1_010)
    assert index.before_timestamp(200) == TimeEntry(100, 1_010)
    assert index.before_timestamp(10**6) == TimeEntry(200, 1_020)
    index.truncate(1_020)
    assert index.last_entry() == TimeEntry(100, 1_010)


def test_entry_that_does_not_ascend_to_the_next_is_damage() -> None:
    disk = make_disk()
    for second in ((200, 1), (200, 0)):
        disk.open("/data/x.timeindex", create=True).write(0, [ENTRY.pack(100, 1), ENTRY.pack(*second)])
        index = TimeIndex(disk, "/data/x.timeindex", 0, is_new=False)
        with pytest.raises(DamagedIndexError, match="does not ascend at entry 0"):
            index.before_timestamp(150)
