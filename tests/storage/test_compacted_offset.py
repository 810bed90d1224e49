import pytest
from tests.storage.log_testing import make_disk

from penstock.model.errors import FlushFailedError
from penstock.storage.compacted_offset import (
    COMPACTED_OFFSET,
    NO_GAPS_AT_ALL,
    UNKNOWN_GAPS,
    Gaps,
    GapsFile,
    GapsWidening,
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


def test_whoever_widens_never_takes_back_what_another_allowed() -> None:
    disk = make_disk()
    gaps = GapsFile(disk, "/data", NO_GAPS_AT_ALL)
    assert gaps.lacks(0)
    gaps.widen(Gaps(50, 0))
    gaps.widen(Gaps(20, 10))
    disk.power_loss()
    assert read_gaps(disk, "/data", is_compacted=False) == gaps.known == (50, 10)
    assert gaps.lacks(50)
    assert not gaps.lacks(49)
    start = disk.operation_count
    GapsWidening(gaps, Gaps(49, 0)).run()
    assert disk.operation_count == start


def test_what_nobody_knew_is_known_once_it_is_written_down() -> None:
    disk = make_disk()
    gaps = GapsFile(disk, "/data", UNKNOWN_GAPS)
    assert gaps.lacks(7)
    gaps.widen(Gaps(8, 7))
    assert read_gaps(disk, "/data", is_compacted=False) == gaps.known == (8, 7)


def test_file_that_could_not_be_written_is_not_relied_on() -> None:
    disk = make_disk()
    gaps = GapsFile(disk, "/data", NO_GAPS_AT_ALL)
    disk.fail_flush(COMPACTED_OFFSET)
    with pytest.raises(FlushFailedError):
        gaps.widen(Gaps(50, 0))
    assert gaps.lacks(49)
