"""Lines of files."""

from pathlib import Path

import pytest

from penstock.cli.failure import CommandFailed
from penstock.cli.produce import input_lines as module
from penstock.cli.produce.input_lines import input_lines, total_size


def test_lines_know_where_they_stand_and_progress_counts_all_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\n\ntwo")
    (tmp_path / "b").write_bytes(b"three\r\n")
    paths = [tmp_path / "a", tmp_path / "b"]
    done: list[int] = []

    lines = list(input_lines(paths, progress=done.append))
    assert [line.text for line in lines] == [b"one", b"", b"two", b"three\r"]
    assert str(lines[2]) == f"{tmp_path / 'a'}, line 3"
    assert sum(done) == total_size(paths) == 15


def test_line_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_BYTES_MAX", 4)
    (tmp_path / "a").write_bytes(b"ok\nmuch too long\n")

    with pytest.raises(CommandFailed, match="line 2 is longer than 4 bytes"):
        list(input_lines([tmp_path / "a"], progress=lambda done: None))


def test_directory_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="is a directory"):
        total_size([tmp_path])
