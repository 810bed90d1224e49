"""``penstock search`` on a real Spark: what it prints, writes and copies."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def terminal(bootstrap: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(bootstrap, capsys, monkeypatch)


def test_what_is_found_is_printed_written_and_copied(
    spark: "SparkSession", terminal: Terminal, unique: UniqueName, tmp_path: Path
) -> None:
    topic, target = unique("searched"), unique("found")
    for name in (topic, target):
        terminal.must("topic", "create", name, "--partitions", "1")
    lines = "".join(f'key-{number}:{{"amount": {number}}}\n' for number in range(20))
    terminal.must("produce", topic, "-k", ":", stdin=lines)
    words = ("search", topic, "json:amount >= 15")

    printed = terminal.must(*words, "--json", "-n", "2")
    assert [json.loads(line)["key"] for line in printed.output.splitlines()] == ["key-15", "key-16"]
    assert "5 records match; the oldest 2 are shown (more with --limit)." in printed.errors

    table = terminal.must(*words, "--columns", "key, json:amount::int + 1").output.splitlines()
    assert table[0].split() == ["KEY", "JSON:AMOUNT::INT", "+", "1"]
    assert [row.split() for row in table[1:]] == [
        [f"key-{number}", str(number + 1)] for number in range(15, 20)
    ]

    file = tmp_path / "found.jsonl"
    assert "5 records match, written to" in terminal.must(*words, "--output", str(file)).errors
    written = [json.loads(line) for line in file.read_text().splitlines()]
    assert [each["value"] for each in written] == [f'{{"amount": {number}}}' for number in range(15, 20)]

    terminal.must(*words, "--columns", "value_bytes, offset", "--output", str(file))
    first = json.loads(file.read_text().splitlines()[0])
    assert first == {"value_bytes": '{"amount": 15}', "offset": 15}

    assert "copied to" in terminal.must(*words, "--to-topic", target).errors
    copied = terminal.must("consume", target, "--from-beginning", "--exit-at-end", "--json").output
    records = [json.loads(line) for line in copied.splitlines()]
    for name in ("key", "value", "headers", "timestamp"):
        assert [each[name] for each in records] == [each[name] for each in written]


def test_a_bad_expression_exits_with_2_and_its_position(
    spark: "SparkSession", terminal: Terminal, unique: UniqueName
) -> None:
    topic = unique("searched")
    terminal.must("topic", "create", topic)
    answer = terminal.run("search", topic, "key = 'a' AND amount > 1")

    assert answer.code == 2
    assert answer.errors.startswith("Error: The expression has a mistake at position 15: there is no column")
