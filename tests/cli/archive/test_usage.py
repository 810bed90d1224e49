"""What of ``penstock archive`` needs no Spark: mistakes, and looking at manifests."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.spark.archive.some_files import a_batch, a_file

from penstock.cli.archive.replaying import parse_offsets
from penstock.model.errors import UsageError
from penstock.spark.archive.manifest import Manifest
from penstock.spark.archive.stores.local_store import LocalStore


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """There is no broker at all."""
    return Terminal("127.0.0.1:1", capsys, monkeypatch)


@pytest.fixture
def archive(tmp_path: Path) -> str:
    """Two hours of orders with a gap, one of payments."""
    manifest = Manifest(LocalStore(tmp_path))
    earlier = "topic=orders/date=2026-01-31/hour=11"
    payments = "topic=payments/date=2026-01-31/hour=12"
    manifest.commit(lambda _: a_batch(0, a_file("a", first=0, last=9, directory=earlier)))
    manifest.commit(lambda _: a_batch(1, a_file("b", first=15, last=19)))
    manifest.commit(lambda _: a_batch(2, a_file("c", first=20, last=24)))
    manifest.commit(lambda _: a_batch(3, a_file("d", directory=payments, partition=3)))
    return str(tmp_path)


def cells(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[1:]]


def test_list_prints_a_line_for_each_topic(terminal: Terminal, archive: str) -> None:
    lines = cells(terminal.must("archive", "list", archive).output)

    assert [line[:5] for line in lines] == [
        ["orders", "20", "3", "2.9", "KiB"],
        ["payments", "10", "1", "1000", "B"],
    ]
    assert lines[0][-4:] == ["2026-01-31", "12:00:00", "2026-01-31", "12:59:59"]


def test_list_prints_offsets_and_gaps(terminal: Terminal, archive: str) -> None:
    lines = cells(terminal.must("archive", "list", archive, "orders", "--partitions").output)

    assert lines == [["orders", "0", "0", "20", "0", "25", "10-14"]]


def test_list_prints_hours(terminal: Terminal, archive: str) -> None:
    lines = cells(terminal.must("archive", "list", archive, "orders", "--hours").output)

    assert [line[:5] for line in lines] == [
        ["orders", "2026-01-31", "11", "10", "1"],
        ["orders", "2026-01-31", "12", "10", "2"],
    ]


def test_list_for_programs_has_everything(terminal: Terminal, archive: str) -> None:
    told = terminal.must("archive", "list", archive, "--hours", "--json").json()

    assert told["version"] == 3
    assert [topic["records"] for topic in told["topics"]] == [20, 10]
    assert told["partitions"][0]["gaps"] == [[10, 15]]
    assert len(told["hours"]) == 3


def test_compaction_is_planned_without_spark(terminal: Terminal, archive: str) -> None:
    lines = cells(terminal.must("archive", "compact", archive, "--dry-run").output)

    assert lines == [["orders", "2026-01-31", "12", "2", "2.0", "KiB"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "{path}/nowhere"), "There is no archive in"),
        (("list", "{path}", "clicks"), "Topic 'clicks' is not in the archive; it has orders, payments"),
        (("run", "{path}"), "Name the topics to archive, or a --pattern"),
        (("run", "{path}", "orders", "--pattern", "o.*"), "Name the topics to archive, or a --pattern"),
        (("run", "{path}", "orders", "--every", "soon"), "--every 'soon' is no duration"),
        (("run", "{path}", "orders", "--max-bytes", "much"), "--max-bytes 'much' is no size"),
        (("run", "{path}", "orders", "--option", "x"), "--option 'x' is not of the form KEY=VALUE"),
        (("compact", "{path}", "--small", "2MB", "--target", "1MB"), "cannot be made into files of at most"),
        (("compact", "{path}", "--grace", "1x"), "--grace '1x' is no duration"),
        (("replay", "orders", "--to", "x", "--offsets", "0:5"), "not of the form PARTITION:FIRST-LAST"),
        (("replay", "orders", "--to", "x", "--since", "never"), "--since 'never' is no time"),
    ],
)
def test_mistakes_are_told_before_spark_starts(
    terminal: Terminal, archive: str, words: tuple[str, ...], message: str
) -> None:
    answer = terminal.run("archive", *(word.format(path=archive) for word in words))

    assert answer.code == 2
    assert message in answer.errors


def test_offsets_have_both_their_ends() -> None:
    assert parse_offsets(("0:5-9", "2:0-0")) == {0: (5, 10), 2: (0, 1)}
    assert parse_offsets(()) is None


@pytest.mark.parametrize("texts", [("0:9-5",), ("0",), ("a:1-2",), ("0:1-2", "0:3-4")])
def test_offsets_that_are_none_are_refused(texts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--offsets"):
        parse_offsets(texts)
