import pytest
from tests.storage.log_testing import make_disk

from penstock.storage.batch_scan import GAPS_ANYWHERE, NO_GAPS
from penstock.storage.compacted_offset import COMPACTED_OFFSET, read_gaps_below, write_compacted_offset


def test_offset_survives_a_power_loss() -> None:
    disk = make_disk()
    write_compacted_offset(disk, "/data", 1234)
    disk.power_loss()
    assert read_gaps_below(disk, "/data", is_compacted=False) == 1234
    write_compacted_offset(disk, "/data", 5678)
    assert read_gaps_below(disk, "/data", is_compacted=True) == 5678


def test_without_file_the_setting_decides() -> None:
    disk = make_disk()
    assert read_gaps_below(disk, "/data", is_compacted=True) == GAPS_ANYWHERE
    assert read_gaps_below(disk, "/data", is_compacted=False) == NO_GAPS


@pytest.mark.parametrize("content", [b"", b"0\n", b"1\n5\n", b"0\n-5\n", b"\xff\xfe", b"0\n" + b"9" * 100])
def test_file_that_cannot_be_read_allows_gaps(content: bytes) -> None:
    disk = make_disk()
    disk.open(f"/data/{COMPACTED_OFFSET}", create=True).write(0, [content])
    assert read_gaps_below(disk, "/data", is_compacted=False) == GAPS_ANYWHERE
