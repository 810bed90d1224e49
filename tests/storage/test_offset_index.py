from tests.storage.log_testing import make_disk

from penstock.storage.offset_index import OffsetEntry, OffsetIndex


def test_file_has_kafka_s_entries_relative_offset_and_position() -> None:
    disk = make_disk()
    index = OffsetIndex(disk, "/data/x.index", 1_000, is_new=True)
    index.add(1_004, 0)
    index.add(1_300, 70_000)
    captured = index.capture(is_final=True)
    assert captured is not None
    captured.run(disk)
    assert disk.read_file("/data/x.index").hex() == "00000004000000000000012c00011170"


def test_lookups_are_in_absolute_offsets() -> None:
    index = OffsetIndex(make_disk(), "/data/x.index", 1_000, is_new=True)
    for number in range(5):
        index.add(1_009 + number * 10, number * 100)
    assert index.before_offset(1_008) is None
    assert index.before_offset(1_009) == OffsetEntry(1_009, 0)
    assert index.before_offset(1_028) == OffsetEntry(1_019, 100)
    assert index.before_position(250) == OffsetEntry(1_029, 200)
    assert index.last_entry() == OffsetEntry(1_049, 400)
    index.truncate(300)
    assert index.last_entry() == OffsetEntry(1_029, 200)
