"""``penstock config`` against a real broker."""

from typing import Any

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

pytestmark = pytest.mark.slow


def described(terminal: Terminal, *words: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in terminal.must("config", "describe", *words, "--json").json()}


def broker_id(terminal: Terminal) -> str:
    return str(terminal.must("broker", "list", "--json").json()[0]["broker"])


def test_config_of_a_topic_shows_value_default_and_source(terminal: Terminal, topic: str) -> None:
    before = described(terminal, "topic", topic)["retention.ms"]
    assert (before["value"], before["default"], before["source"]) == ("604800000", "168", "default")

    said = terminal.must("config", "set", "topic", topic, "retention.ms=1000", "cleanup.policy=compact")
    assert f"topic {topic}: retention.ms set to 1000\n" in said.output
    after = described(terminal, "topic", topic, "--changed")
    assert after.keys() == {"retention.ms", "cleanup.policy"}
    assert (after["retention.ms"]["value"], after["retention.ms"]["source"]) == ("1000", "topic")
    rows = [line.split() for line in terminal.must("config", "describe", "topic", topic).output.splitlines()]
    assert rows[0] == ["SETTING", "VALUE", "DEFAULT", "FROM"]
    assert ["retention.ms", "1000", "168", "(log.retention.hours)", "topic"] in rows
    assert ["segment.bytes", "1073741824", "1073741824", "default"] in rows

    terminal.must("config", "unset", "topic", topic, "retention.ms")
    assert described(terminal, "topic", topic, "--changed").keys() == {"cleanup.policy"}


def test_config_of_a_key_with_docs_says_what_it_means(terminal: Terminal, topic: str) -> None:
    words = ["config", "describe", "topic", topic, "--key", "retention.ms", "--docs"]
    header, row = terminal.must(*words).output.splitlines()

    assert header.split()[-1] == "MEANING"
    assert len(row.split()) > 6


def test_config_dry_run_changes_nothing(terminal: Terminal, topic: str) -> None:
    words = ["config", "set", "topic", topic, "retention.ms=5", "--dry-run"]

    assert terminal.must(*words).output == f"topic {topic}: retention.ms could be set to 5\n"
    assert terminal.must(*words, "--json").json()["dry_run"] is True
    assert described(terminal, "topic", topic, "--changed") == {}


def test_config_of_brokers_and_of_the_cluster_stand_above_each_other(terminal: Terminal) -> None:
    broker, name = broker_id(terminal), "log.cleaner.backoff.ms"
    terminal.must("config", "set", "cluster", f"{name}=16000")
    try:
        found = described(terminal, "broker", broker)[name]
        assert (found["value"], found["source"]) == ("16000", "cluster")
        assert described(terminal, "cluster", "--changed")[name]["value"] == "16000"
        terminal.must("config", "set", "broker", broker, f"{name}=17000")
        found = described(terminal, "broker", broker)[name]
        assert (found["value"], found["source"], found["default"]) == ("17000", "broker", "15000")
        assert [each["source"] for each in found["values"]] == ["broker", "cluster", "default"]
    finally:
        terminal.must("config", "unset", "broker", broker, name)
        terminal.must("config", "unset", "cluster", name)
    assert described(terminal, "broker", broker)[name]["source"] == "default"


def test_config_of_what_is_not_there_fails(terminal: Terminal, unique: UniqueName, topic: str) -> None:
    missing = terminal.run("config", "describe", "topic", unique("missing"))
    assert missing.code == 1
    assert "penstock topic list" in missing.errors

    nonsense = terminal.run("config", "set", "topic", topic, "retention.ms=soon")
    assert nonsense.code == 1
    assert "retention.ms" in nonsense.errors
    assert "Hint: See names, values and what they mean" in nonsense.errors

    nobody = terminal.run("config", "describe", "broker", "4711")
    assert nobody.code == 1
    assert "There is no broker 4711 at present." in nobody.errors
    assert "penstock broker list" in nobody.errors

    unknown = terminal.run("config", "describe", "topic", topic, "--key", "no.such.key")
    assert unknown.code == 1
    assert "is called 'no.such.key'" in unknown.errors

    mistyped = terminal.run("config", "unset", "topic", topic, "retention.msec")
    assert (mistyped.code, mistyped.output) == (1, "")
    assert f"Nothing of topic {topic} is called 'retention.msec'." in mistyped.errors
    terminal.must("config", "unset", "topic", topic, "retention.ms")  # which nobody has set


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["describe", "topic"], "Say which topic"),
        (["describe", "cluster", "x"], "The cluster has no name"),
        (["describe", "broker", "x"], "Brokers have numbers"),
        (["describe", "planet"], "'planet' is not one of"),
        (["set", "topic", "t"], "Say which settings of topic t"),
        (["set", "topic", "t", "novalue"], "not of the form KEY=VALUE"),
        (["set", "cluster", "novalue"], "not of the form KEY=VALUE"),
        (["unset", "broker", "1"], "Say which settings of broker 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_config_mistake_is_a_usage_error(terminal: Terminal, words: list[str], said: str) -> None:
    answer = terminal.run("config", *words)

    assert answer.code == 2
    assert said in answer.errors


def test_config_of_client_metrics_makes_and_ends_a_subscription(
    terminal: Terminal, unique: UniqueName
) -> None:
    name, match = unique("subscription"), "client_id=nobody-.*,client_source_port=1"
    said = terminal.must("config", "set", "client-metrics", name, "metrics=a.,b.", f"match={match}")
    assert f"client-metrics {name}: match set to {match}\n" in said.output
    found = described(terminal, "client-metrics", name)
    assert (found["metrics"]["value"], found["metrics"]["source"]) == ("a.,b.", "subscription")
    assert (found["interval.ms"]["value"], found["interval.ms"]["source"]) == ("300000", "default")
    terminal.must("config", "unset", "client-metrics", name, "metrics", "match")
    assert described(terminal, "client-metrics", name, "--changed") == {}
