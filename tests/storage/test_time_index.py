from tests.storage.log_testing import make_disk

from penstock.storage.time_index import TimeEntry, TimeIndex


def test_file_has_kafka_s_entries_timestamp_and_relative_offset() -> None:
    disk = make_disk()
    index = TimeIndex(disk, "/data/x.timeindex", 1_000, is_new=True)
    index.add(1_700_000_000_000, 1_004)
    captured = index.capture(may_cut=True)
    assert captured is not None
    captured.run(disk, durably=True)
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
    assert index.before_timestamp(99) is None
    assert index.before_timestamp(199) == TimeEntry(100, 1_010)
    index.truncate(1_020)
    assert index.last_entry() == TimeEntry(100, 1_010)
