"""Log files of one or several brokers, whether these are up or not."""

import logging
import os
from pathlib import Path

import pytest
from tests.broker.logging.logged import NOON_MS, entry

from penstock.client.logs.files import LINE_BYTES_MAX, search_files
from penstock.client.logs.query import LogQuery
from penstock.model.errors import UsageError


def write(path: Path, *events: str, node: int = 1, level: int = logging.INFO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(entry(event, level=level).line(node) + b"\n" for event in events))
    return path


def found(directory: Path, query: LogQuery | None = None) -> list[str]:
    return [each.event for each in search_files(directory, query or LogQuery()).entries()]


@pytest.mark.parametrize("place", [".", "logs", "node-1/logs"])
def test_files_are_found_where_brokers_put_them(tmp_path: Path, place: str) -> None:
    write(tmp_path / place / "penstock.jsonl", "new")
    write(tmp_path / place / "penstock-20241004T120000.000Z.jsonl", "old")

    assert sorted(found(tmp_path)) == ["new", "old"]


def test_directory_without_log_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / "00000000000000000000.log").write_bytes(b"no log of ours")

    with pytest.raises(UsageError, match="holds no log files"):
        found(tmp_path)


def test_only_the_newest_are_kept_and_that_is_told(tmp_path: Path) -> None:
    write(tmp_path / "penstock.jsonl", "a", "b", "c")
    newest = search_files(tmp_path, LogQuery(limit=2))

    assert [each.event for each in newest.entries()] == ["b", "c"]
    assert newest.is_cut


def test_query_is_kept_to(tmp_path: Path) -> None:
    write(tmp_path / "a/logs/penstock.jsonl", "quiet", node=1)
    write(tmp_path / "b/logs/penstock.jsonl", "loud", node=2, level=logging.ERROR)

    assert found(tmp_path, LogQuery(level="warn", brokers=frozenset({2}))) == ["loud"]


def test_files_from_before_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "penstock.jsonl", "new")
    os.utime(path, (1, 1))

    assert found(tmp_path, LogQuery(since_ms=NOON_MS)) == []


def test_lines_that_are_no_entries_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "penstock.jsonl", "first")
    whole = entry("last").line(1)
    path.write_bytes(
        path.read_bytes() + whole[:40] + b"\n" + b"x" * (2 * LINE_BYTES_MAX) + b"\n" + whole + b"\n"
    )

    assert found(tmp_path) == ["first", "last"]
