"""Files that are set aside when they are large or old, and go when they are too old or too many."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker.logging.logged import DAY_MS, SetClock

from penstock.broker.logging.log_files import CURRENT, FileLimits, LogFiles

LIMITS = FileLimits(file_bytes_max=100, age_ms_max=3 * DAY_MS, files_max=4)
LINE = b'{"event": "some thirty bytes"}\n'


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def files(tmp_path: Path, clock: SetClock) -> LogFiles:
    return LogFiles(str(tmp_path / "logs"), LIMITS, clock)


def put_back_to(path: Path, time_ms: int) -> None:
    os.utime(path, ns=(time_ms * 1_000_000, time_ms * 1_000_000))


def aside(files: LogFiles) -> list[Path]:
    return sorted(path for path in Path(files.directory).iterdir() if path.name != CURRENT)


def test_file_that_would_become_too_large_is_set_aside_whole(files: LogFiles) -> None:
    for _ in range(4):
        files.write(LINE)
    files.close()

    (older,) = aside(files)
    assert older.name == "penstock-20241004T120000.000Z.jsonl"
    assert older.read_bytes() == 3 * LINE
    assert (Path(files.directory) / CURRENT).read_bytes() == LINE


def test_new_day_begins_a_new_file(files: LogFiles, clock: SetClock) -> None:
    files.write(LINE)
    clock.now_ms += DAY_MS
    files.write(LINE)
    files.close()

    assert [path.read_bytes() for path in aside(files)] == [LINE]


def test_next_process_goes_on_in_the_same_file(files: LogFiles, clock: SetClock) -> None:
    files.write(LINE)
    files.close()
    current = Path(files.directory) / CURRENT
    put_back_to(current, clock.now_ms)
    following = LogFiles(files.directory, LIMITS, clock)
    following.write(LINE)
    following.close()

    assert current.read_bytes() == 2 * LINE
    assert aside(files) == []


def test_files_go_by_count_the_oldest_first(files: LogFiles, clock: SetClock) -> None:
    for number in range(8):
        clock.now_ms += 1_000
        files.write(LINE * 3)
        put_back_to(Path(files.directory) / CURRENT, clock.now_ms + number)
    files.close()

    assert [path.name[-13:-7] for path in aside(files)] == ["05.000", "06.000", "07.000", "08.000"]


def test_files_go_by_age(files: LogFiles, clock: SetClock) -> None:
    files.write(LINE)
    put_back_to(Path(files.directory) / CURRENT, clock.now_ms)
    clock.now_ms += DAY_MS
    files.write(LINE)
    put_back_to(Path(files.directory) / CURRENT, clock.now_ms)
    assert len(aside(files)) == 1
    clock.now_ms += 3 * DAY_MS
    files.write(LINE)
    files.close()

    assert [path.name for path in aside(files)] == ["penstock-20241008T120000.000Z.jsonl"]


def test_files_set_aside_at_the_same_moment_keep_apart(files: LogFiles) -> None:
    for _ in range(3):
        files.write(LINE * 3)
    files.close()

    assert len(aside(files)) == 2


@contextmanager
def file_size_limit(byte_count: int) -> Iterator[None]:
    """What a full disk does: a write is cut short, and the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte_count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_line_that_was_cut_off_is_closed_by_the_next(files: LogFiles) -> None:
    with file_size_limit(5), pytest.raises(OSError, match="File too large"):
        files.write(LINE)
    files.write(LINE)
    files.close()

    assert (Path(files.directory) / CURRENT).read_bytes() == LINE[:5] + b"\n" + LINE


def test_only_the_owner_may_read_them(files: LogFiles) -> None:
    files.write(LINE)
    files.close()

    assert os.stat(files.directory).st_mode & 0o077 == 0
    assert os.stat(Path(files.directory) / CURRENT).st_mode & 0o077 == 0


def test_link_that_somebody_placed_is_not_followed(files: LogFiles, tmp_path: Path) -> None:
    Path(files.directory).mkdir()
    target = tmp_path / "precious"
    target.write_bytes(b"as it was")
    (Path(files.directory) / CURRENT).symlink_to(target)

    with pytest.raises(OSError, match="symbolic links"):
        files.write(LINE)
    assert target.read_bytes() == b"as it was"
