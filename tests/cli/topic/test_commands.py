"""``penstock topic`` against a real broker."""

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

pytestmark = pytest.mark.slow


def test_topic_life_from_create_to_delete(terminal: Terminal, unique: UniqueName) -> None:
    name = unique("cli")

    assert terminal.must("topic", "create", name, "-p", "3", "-c", "retention.ms=60000").output == (
        f"{name}: created\n"
    )
    listed = terminal.must("topic", "list", "--json").json()
    assert {"topic": name, "partitions": 3} in listed

    terminal.must("topic", "alter", name, "-p", "4", "-c", "segment.bytes=2000000")
    terminal.must("topic", "alter", name, "--delete-config", "retention.ms")
    (described,) = terminal.must("topic", "describe", name, "--json").json()
    assert described["topic"] == name
    assert [partition["partition"] for partition in described["partitions"]] == [0, 1, 2, 3]
    assert described["configs"] == {"segment.bytes": "2000000"}

    assert terminal.must("topic", "delete", name).output == f"{name}: deleted\n"
    assert terminal.run("topic", "describe", name).code == 1


def test_topic_describe_shows_offsets_and_a_readable_id(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, stdin="a\nb\nc\n")

    (described,) = terminal.must("topic", "describe", topic, "--json").json()
    (partition,) = described["partitions"]
    assert (partition["start_offset"], partition["end_offset"]) == (0, 3)
    assert partition["leader"] in partition["isr"]
    assert len(described["topic_id"]) == 22
    text = terminal.must("topic", "describe", topic).output
    assert text.splitlines()[0].startswith(f"{topic}  id {described['topic_id']}")


def test_topic_describe_all_configs_shows_defaults(terminal: Terminal, topic: str) -> None:
    text = terminal.must("topic", "describe", topic, "--all-configs").output

    assert "  cleanup.policy=delete\n" in text


def test_topic_list_prints_a_table(terminal: Terminal, topic: str) -> None:
    lines = terminal.must("topic", "list").output.splitlines()

    assert lines[0].split() == ["TOPIC", "PARTITIONS"]
    assert [topic, "1"] in [line.split() for line in lines]


def test_topic_create_that_exists_fails_with_a_hint_unless_excused(terminal: Terminal, topic: str) -> None:
    refused = terminal.run("topic", "create", topic)
    assert refused.code == 1
    assert "already exists" in refused.errors
    assert "Hint: Use --if-not-exists" in refused.errors

    assert terminal.must("topic", "create", topic, "--if-not-exists").output == f"{topic}: unchanged\n"


def test_topic_delete_of_several_goes_on_after_a_missing_one(
    terminal: Terminal, topic: str, unique: UniqueName
) -> None:
    answer = terminal.run("topic", "delete", unique("missing"), topic)

    assert answer.code == 1
    assert f"{topic}: deleted" in answer.output
    assert "UNKNOWN_TOPIC_OR_PART" in answer.errors


def test_topic_delete_that_is_missing_succeeds_when_excused(terminal: Terminal, unique: UniqueName) -> None:
    terminal.must("topic", "delete", unique("missing"), "--if-exists")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["create", "bad/name"], "TOPIC_EXCEPTION"),
        (["create", "fine", "-r", "7"], "INVALID_REPLICATION_FACTOR"),
        (["create", "fine", "-c", "no.such.key=1"], "no.such.key"),
        (["create", "fine", "-c", "retention.ms=soon"], "retention.ms"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_topic_create_of_nonsense_fails_saying_why(terminal: Terminal, words: list[str], said: str) -> None:
    answer = terminal.run("topic", *words)

    assert answer.code == 1
    assert answer.errors.startswith("Error: Cannot create topic")
    assert said in answer.errors


def test_topic_add_partitions_to_a_number_or_by_one(terminal: Terminal, topic: str) -> None:
    assert terminal.must("topic", "add-partitions", topic, "--to", "3").output == (
        f"{topic}: 3 partitions, 2 more\n"
    )
    assert terminal.must("topic", "add-partitions", topic, "--by", "2", "--json").json() == {
        "topic": topic,
        "partitions_before": 3,
        "partitions": 5,
    }
    (described,) = terminal.must("topic", "describe", topic, "--json").json()
    assert len(described["partitions"]) == 5


def test_topic_create_without_partitions_says_how_many_there_are_at_least(
    terminal: Terminal, unique: UniqueName
) -> None:
    answer = terminal.run("topic", "create", unique("none"), "--partitions", "0")

    assert answer.code == 1
    assert "at least one partition" in answer.errors


def test_topic_add_partitions_that_it_has_already_fails_with_a_hint(terminal: Terminal, topic: str) -> None:
    answer = terminal.run("topic", "add-partitions", topic, "--to", "1")

    assert answer.code == 1
    assert "INVALID_PARTITIONS" in answer.errors
    assert "can only grow" in answer.errors


def test_topic_add_partitions_to_a_missing_one_makes_none(terminal: Terminal, unique: UniqueName) -> None:
    name = unique("missing")

    answer = terminal.run("topic", "add-partitions", name, "--by", "1")
    assert answer.code == 1
    assert f"There is no topic '{name}'." in answer.errors
    assert name not in terminal.must("topic", "list").output


def test_topic_alter_to_fewer_partitions_fails(terminal: Terminal, unique: UniqueName) -> None:
    name = unique("cli")
    terminal.must("topic", "create", name, "-p", "2")

    answer = terminal.run("topic", "alter", name, "-p", "1")
    assert answer.code == 1
    assert "can only grow" in answer.errors


def test_topic_alter_that_takes_back_what_no_topic_has_changes_nothing(
    terminal: Terminal, topic: str
) -> None:
    mistyped = terminal.run(
        "topic", "alter", topic, "-c", "retention.ms=7", "--delete-config", "segment.byte"
    )
    assert (mistyped.code, mistyped.output) == (1, "")
    assert f"Nothing of topic {topic!r} is called 'segment.byte'." in mistyped.errors
    (described,) = terminal.must("topic", "describe", topic, "--json").json()
    assert described["configs"] == {}


def test_topic_describe_of_one_that_is_named_twice_shows_it_once(terminal: Terminal, topic: str) -> None:
    assert len(terminal.must("topic", "describe", topic, topic, "--json").json()) == 1


def test_topic_add_partitions_beyond_what_clients_take_is_a_mistake(terminal: Terminal, topic: str) -> None:
    answer = terminal.run("topic", "add-partitions", topic, "--by", "100000")
    assert (answer.code, "the most is 100000" in answer.errors) == (2, True)
