"""``penstock search`` up to where Spark would start: mistakes are told before."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

from penstock.cli.search.command import split_columns
from penstock.cli.search.results import plain

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "Nothing says what to find: give an expression, --text or --regex."),
        (["key = 'a'", "--archive-only"], "--archive-only needs --archive."),
        (["key = 'a'", "--output", "a", "--to-topic", "b"], "--output and --to-topic exclude each other"),
        (["key = 'a'", "--to-topic", "b", "--columns", "key"], "--to-topic copies whole records"),
        (["key = 'a'", "--to-topic", "orders"], "--to-topic orders is the topic that is searched"),
        (["key = 'a'", "--to-topic", "b", "--archive", "x", "--archive-only"], "--to-topic needs brokers"),
        (["key = 'a'", "--since", "yesterday"], "--since 'yesterday' is no time"),
        (["key = 'a'", "--since", "1h", "--until", "2h"], "The search ends before it begins"),
        (["key = 'a'", "--conf", "nothing"], "--conf 'nothing' is not of the form KEY=VALUE"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(terminal: Terminal, words: list[str], complaint: str) -> None:
    answer = terminal.run("search", "orders", *words)

    assert answer.code == 2
    assert complaint in answer.errors


def test_a_topic_that_is_not_there_fails_with_a_hint(terminal: Terminal, unique: UniqueName) -> None:
    answer = terminal.run("search", unique("missing"), "--text", "a")

    assert answer.code == 1
    assert "There is no topic" in answer.errors
    assert "Hint:" in answer.errors


def test_a_cluster_that_does_not_answer_fails_at_once(terminal: Terminal) -> None:
    answer = terminal.run("search", "orders", "--text", "a", "--bootstrap-server", "127.0.0.1:1")

    assert answer.code == 1
    assert "127.0.0.1:1" in answer.errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("key", ("key",)),
        ("key, offset ,", ("key", "offset")),
        ("concat(key, ','), json:a['b,c'], \"x,y\"", ("concat(key, ',')", "json:a['b,c']", '"x,y"')),
    ],
)
def test_commas_within_brackets_and_quotes_separate_nothing(text: str, expected: tuple[str, ...]) -> None:
    assert split_columns(text) == expected


def test_values_of_spark_become_plain() -> None:
    value = {"a": [1, b"x", bytearray(b"\xff")], "b": Path("p"), "c": None}
    assert plain(value) == {"a": [1, "x", "/w=="], "b": "p", "c": None}
