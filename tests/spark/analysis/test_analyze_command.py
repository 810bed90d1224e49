"""``penstock storage analyze --spark`` on a real Spark, from files."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminal import Terminal
from tests.spark.analysis.analysed_data import fill

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def terminal(bootstrap: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(bootstrap, capsys, monkeypatch)


@pytest.mark.spark
def test_a_topic_is_printed_with_all_that_spark_counts(
    spark: "SparkSession", terminal: Terminal, tmp_path: Path
) -> None:
    data, page = tmp_path / "data", tmp_path / "report.html"
    fill(data)
    words = ("storage", "analyze", "orders", "--spark", "--data-dir", str(data), "--top", "3")

    text = terminal.must(*words, "--html", str(page)).output
    assert text.startswith("orders: 310 messages in 3 partitions; ")
    rows = [line.split() for line in text.splitlines()]
    assert ["KIND", "MESSAGES", "BYTES", "SHARE"] in rows
    assert ["TYPE", "KIND", "MESSAGES"] in rows
    assert "Compaction would remove" in text
    assert "2026-01-28" in text
    assert page.read_text().count("<svg") == 8


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--archive", "--html", "--parquet", "--master"])
def test_options_of_spark_need_spark(terminal: Terminal, option: str) -> None:
    answer = terminal.run("storage", "analyze", option, "x")

    assert answer.code == 2
    assert f"{option} needs --spark." in answer.errors


@pytest.mark.slow
def test_files_and_archive_exclude_each_other(terminal: Terminal) -> None:
    answer = terminal.run("storage", "analyze", "--spark", "--data-dir", "a", "--archive", "b")

    assert answer.code == 2
    assert "--data-dir and --archive exclude each other" in answer.errors
