"""What a shell is told."""

import socket

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

from penstock.cli.completion.candidates import FILES, candidates
from penstock.cli.completion.names import SECONDS_MAX, Noun, known_names
from penstock.cli.tree import COMMANDS


def words_for(*typed: str) -> list[str]:
    return [candidate.word for candidate in candidates(typed)]


def test_first_word_is_any_command_with_what_it_does() -> None:
    assert words_for("") == list(COMMANDS)
    assert words_for("to") == ["topic"]
    assert candidates(["to"])[0].meaning == COMMANDS["topic"].summary


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["topic", "d"], ["describe", "delete"]),
        (["group", "reset-offsets", "g", "--to-l"], ["--to-latest"]),
        (["consume", "t", "--pr"], ["--pretty"]),
        (["consume", "t", "--no-"], ["--no-pretty"]),
        (["consume", "t", "--isolation-level", ""], ["read_committed", "read_uncommitted"]),
        (["consume", "t", "--isolation-level=read_committed", "--exit"], ["--exit-at-end"]),
        (["produce", "t", "--acks", ""], ["0", "1", "all"]),
        (["produce", "t", "--compression", "z"], ["zstd"]),
        (["config", "describe", ""], ["topic", "broker", "cluster", "client-metrics"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["produce", "t", ""], [FILES]),
        (["storage", "verify", "--data-dir", ""], [FILES]),
        (["serve", "--da"], ["--data-dir"]),
        (["serve", "--config", ""], [FILES]),
        (["serve", "--par"], []),
        (["serve", ""], []),
        (["version", ""], []),
        (["no-such", ""], []),
        (["topic", "no-such", ""], []),
        (["topic", "list", "--help", "--js"], ["--json"]),
        (["consume", "t", "-n", ""], []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_next_word_follows_from_the_tree(typed: list[str], expected: list[str]) -> None:
    assert words_for(*typed) == expected


def test_every_command_offers_help() -> None:
    assert "--help" in words_for("doctor", "--")


@pytest.mark.slow
def test_names_of_topics_groups_and_brokers_come_from_the_cluster(
    terminal: Terminal, topic: str, unique: UniqueName
) -> None:
    group = unique("group")
    terminal.must("produce", topic, stdin="a\n")
    terminal.must("consume", topic, "--group", group, "--from-beginning", "-n", "1")

    assert topic in words_for("topic", "describe", "")
    assert words_for("topic", "delete", topic, topic) == [], "it is there already"
    assert group in words_for("group", "describe", "")
    assert group in words_for("consume", topic, "--group", "")
    assert topic in words_for("group", "reset-offsets", group, "--topic", "")
    assert topic in words_for("config", "set", "topic", "")
    assert words_for("config", "set", "topic", topic, "") == []
    assert words_for("broker", "describe", "")
    bootstrap = terminal.environment["PENSTOCK_BOOTSTRAP_SERVER"]
    assert topic in words_for("topic", "describe", "--bootstrap-server", bootstrap, "")
    assert words_for("topic", "describe", "--bootstrap-server=127.0.0.1:1", "") == []


def test_names_of_a_cluster_that_is_silent_are_none_after_a_moment() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"

        assert SECONDS_MAX <= 1
        assert known_names(Noun.TOPIC, address) == []
    assert known_names(Noun.GROUP, "nonsense") == []
