import pytest
from tests.storage.log_testing import make_disk

from penstock.storage.compacted_offset import (
    COMPACTED_OFFSET,
    NO_GAPS_AT_ALL,
    UNKNOWN_GAPS,
    Gaps,
    read_gaps,
    write_gaps,
)


def test_gaps_survive_a_power_loss() -> None:
    disk = make_disk()
    write_gaps(disk, "/data", Gaps(1234, 0))
    disk.power_loss()
    assert read_gaps(disk, "/data", is_compacted=False) == (1234, 0)
    write_gaps(disk, "/data", Gaps(5678, 100))
    assert read_gaps(disk, "/data", is_compacted=True) == (5678, 100)


def test_without_file_the_setting_decides() -> None:
    disk = make_disk()
    assert read_gaps(disk, "/data", is_compacted=True) == UNKNOWN_GAPS
    assert read_gaps(disk, "/data", is_compacted=False) == NO_GAPS_AT_ALL


@pytest.mark.parametrize(
    "content", [b"", b"x", b"0\n", b"1\n5\n5\n", b"0\n-5\n0\n", b"\xff\xfe", b"0\n0\n" + b"9" * 100]
)
def test_file_that_cannot_be_read_allows_gaps(content: bytes) -> None:
    disk = make_disk()
    disk.open(f"/data/{COMPACTED_OFFSET}", create=True).write(0, [content])
    assert read_gaps(disk, "/data", is_compacted=False) == UNKNOWN_GAPS
