"""``penstock group`` against a real broker and real consumers."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from tests.broker_process import Server, wait_until
from tests.cli.terminal import Answer, Terminal
from tests.conftest import EXTERNAL_BOOTSTRAP, UniqueName
from tests.lively_broker import LIVELY

pytestmark = pytest.mark.slow

JOIN_SECONDS_MAX = 30.0
RECORDS = 10
MINUTE_MS = 60_000

PROTOCOLS = ["classic", "consumer"]


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker on which new groups do not wait for more members."""
    if EXTERNAL_BOOTSTRAP:
        yield EXTERNAL_BOOTSTRAP
        return
    server = Server(tmp_path_factory.mktemp("groups"), settings=LIVELY).start()
    try:
        yield server.bootstrap
    finally:
        server.close()


@pytest.fixture(scope="module")
def first_ms() -> int:
    """The timestamp of the first record of every topic here; each later one is a minute younger."""
    return int(time.time() * 1000) - 60 * MINUTE_MS


@pytest.fixture
def topic(terminal: Terminal, bootstrap: str, unique: UniqueName, first_ms: int) -> str:
    """A topic of two partitions with ten records each, a minute apart."""
    name = unique("orders")
    terminal.must("topic", "create", name, "--partitions", "2")
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(RECORDS):
        for partition in range(2):
            producer.produce(name, b"", partition=partition, timestamp=first_ms + number * MINUTE_MS)
    assert producer.flush(30) == 0
    return name


@pytest.fixture
def group(terminal: Terminal, topic: str, unique: UniqueName) -> str:
    """A group without members that stands at offset 4 of both partitions of ``topic``."""
    name = unique("group")
    terminal.must("group", "reset-offsets", name, "--topic", topic, "--to-offset", "4")
    return name


def new_consumer(bootstrap: str, group: str, protocol: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "group.id": group,
            "group.protocol": protocol,
            "client.id": "till",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )


@contextmanager
def joined(bootstrap: str, group: str, topic: str, *, protocol: str = "classic") -> Iterator[None]:
    """While a consumer has joined ``group`` and has all partitions of ``topic``."""
    with closing(new_consumer(bootstrap, group, protocol)) as consumer:
        consumer.subscribe([topic])
        deadline = time.monotonic() + JOIN_SECONDS_MAX
        while len(consumer.assignment()) < 2:
            consumer.poll(0.1)
            assert time.monotonic() < deadline, "no partitions"
        yield


def describe(terminal: Terminal, group: str) -> Any:
    (described,) = terminal.must("group", "describe", group, "--json").json()
    return described


def committed(terminal: Terminal, group: str) -> dict[int, int]:
    partitions = describe(terminal, group)["partitions"]
    return {
        one["partition"]: one["committed_offset"] for one in partitions if one["committed_offset"] is not None
    }


def listed(answer: Answer, group: str) -> list[Any]:
    return [one for one in answer.json() if one["group"] == group]


# List.


def test_list_group_without_members_shows_its_lag(terminal: Terminal, group: str) -> None:
    (found,) = listed(terminal.must("group", "list", "--json"), group)

    assert found.pop("coordinator") >= 0
    assert found == {"group": group, "type": "classic", "state": "Empty", "members": 0, "lag": 12}


def test_list_prints_a_table(terminal: Terminal, group: str) -> None:
    lines = [line.split() for line in terminal.must("group", "list").output.splitlines()]

    assert lines[0] == ["GROUP", "TYPE", "STATE", "MEMBERS", "LAG"]
    assert [group, "classic", "Empty", "0", "12"] in lines


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_list_filters_by_state_and_type(
    terminal: Terminal, bootstrap: str, topic: str, unique: UniqueName, protocol: str
) -> None:
    name = unique("group")
    other = {"classic": "consumer", "consumer": "classic"}[protocol]
    with joined(bootstrap, name, topic, protocol=protocol):
        wait_until(lambda: describe(terminal, name)["state"] == "Stable", what="a stable group")
        (found,) = listed(terminal.must("group", "list", "--state", "stable", "--json"), name)
        assert (found["type"], found["members"]) == (protocol, 1)
        assert listed(terminal.must("group", "list", "--type", protocol, "--json"), name)
        assert not listed(terminal.must("group", "list", "--type", other, "--json"), name)
        assert not listed(terminal.must("group", "list", "--state", "empty", "--json"), name)


# Describe.


def test_describe_group_without_members_shows_offsets_and_lag(
    terminal: Terminal, topic: str, group: str
) -> None:
    described = describe(terminal, group)

    assert (described["type"], described["state"], described["members"]) == ("classic", "Empty", [])
    assert described["lag"] == 12
    nobody = {"member_id": None, "client_id": None, "host": None}
    assert described["partitions"] == [
        {"topic": topic, "partition": number, "committed_offset": 4, "end_offset": 10, "lag": 6, **nobody}
        for number in range(2)
    ]
    headline, columns, first, second = terminal.must("group", "describe", group).output.splitlines()
    assert headline.startswith(f"{group}  type classic  state Empty")
    assert headline.endswith("  members 0  lag 12")
    assert columns.split() == ["TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "CLIENT", "HOST"]
    assert first.split() == [topic, "0", "4", "10", "6", "-", "-", "-"]
    assert second.split() == [topic, "1", "4", "10", "6", "-", "-", "-"]
    assert terminal.must("group", "describe", group, "--members").output.splitlines()[1] == "  no members"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_describe_group_with_a_member_shows_who_has_what(
    terminal: Terminal, bootstrap: str, topic: str, unique: UniqueName, protocol: str
) -> None:
    name = unique("group")
    with joined(bootstrap, name, topic, protocol=protocol):
        wait_until(lambda: describe(terminal, name)["state"] == "Stable", what="a stable group")
        described = describe(terminal, name)
        offsets = terminal.must("group", "describe", name).output.splitlines()
        members = terminal.must("group", "describe", name, "--members").output.splitlines()

    (member,) = described["members"]
    assert described["type"] == protocol
    assert described["protocol"] == {"classic": "range", "consumer": "uniform"}[protocol]
    assert (member["client_id"], member["host"]) == ("till", "127.0.0.1")
    assert (member["subscription"], member["assignment"]) == ([topic], {topic: [0, 1]})
    assert [one["member_id"] for one in described["partitions"]] == [member["member_id"]] * 2
    if protocol == "consumer":
        assert member["epoch"] > 0
        assert member["target_assignment"] == {topic: [0, 1]}
    assert offsets[0].endswith("  members 1  lag -  partitions without offset 2")
    assert offsets[2].split() == [topic, "0", "-", "10", "-", member["member_id"], "till", "127.0.0.1"]
    assert members[2].split()[-3:] == ["2", f"{topic}:0,1", "-"]


def test_describe_group_that_is_missing_fails_after_showing_the_others(
    terminal: Terminal, group: str, unique: UniqueName
) -> None:
    missing = unique("missing")

    answer = terminal.run("group", "describe", missing, group)
    assert answer.code == 1
    assert answer.output.startswith(f"{group}  type classic")
    assert answer.errors.splitlines() == [
        f"Error: There is no group '{missing}'.",
        "Hint: See what there is with `penstock group list`.",
    ]


def test_describe_without_names_shows_every_group(terminal: Terminal, group: str) -> None:
    names = [one["group"] for one in terminal.must("group", "describe", "--json").json()]

    assert group in names
    assert names == sorted(names)


# Reset.


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (["--to-earliest"], 0),
        (["--to-latest"], 10),
        (["--to-current"], 4),
        (["--to-offset", "0"], 0),
        (["--to-offset", "7"], 7),
        (["--shift-by", "3"], 7),
        (["--shift-by", "-3"], 1),
        (["--by-duration", "55m30s"], 5),
        (["--by-duration", "PT55M30S"], 5),
        (["--by-duration", "1s"], 10),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_reset_to_each_target_moves_there(
    terminal: Terminal, topic: str, group: str, target: list[str], expected: int
) -> None:
    result = terminal.must("group", "reset-offsets", group, "--all-topics", *target, "--json").json()

    assert (result["group"], result["dry_run"], result["notes"]) == (group, False, [])
    assert [
        (one["topic"], one["partition"], one["old_offset"], one["new_offset"], one["change"])
        for one in result["offsets"]
    ] == [(topic, number, 4, expected, expected - 4) for number in range(2)]
    assert committed(terminal, group) == {0: expected, 1: expected}


def test_reset_to_datetime_moves_to_the_first_record_not_older(
    terminal: Terminal, group: str, first_ms: int
) -> None:
    third = first_ms + 3 * MINUTE_MS
    terminal.must("group", "reset-offsets", group, "--all-topics", "--to-datetime", f"@{third}")
    assert committed(terminal, group) == {0: 3, 1: 3}

    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime((third + MINUTE_MS) / 1000))
    terminal.must("group", "reset-offsets", group, "--all-topics", "--to-datetime", text)
    assert committed(terminal, group) == {0: 4, 1: 4}


def test_reset_beyond_the_log_is_moved_into_it_and_says_so(
    terminal: Terminal, topic: str, group: str
) -> None:
    back = terminal.must("group", "reset-offsets", group, "--topic", topic, "--shift-by", "-100").output
    assert "-96 lies before the log: moved to its start" in back
    assert committed(terminal, group) == {0: 0, 1: 0}

    forth = terminal.must("group", "reset-offsets", group, "--topic", topic, "--to-offset", "11").output
    assert "11 lies beyond the log: moved to its end" in forth
    assert committed(terminal, group) == {0: 10, 1: 10}


def test_reset_of_a_partition_leaves_the_others_alone(terminal: Terminal, topic: str, group: str) -> None:
    terminal.must("group", "reset-offsets", group, "--topic", f"{topic}:1", "--to-latest")

    assert committed(terminal, group) == {0: 4, 1: 10}


def test_reset_dry_run_prints_the_plan_and_changes_nothing(
    terminal: Terminal, topic: str, group: str
) -> None:
    output = terminal.must("group", "reset-offsets", group, "--all-topics", "--to-latest", "--dry-run").output

    columns, first, _, last = output.splitlines()
    assert columns.split() == ["TOPIC", "PARTITION", "OLD", "NEW", "CHANGE", "NOTE"]
    assert first.split() == [topic, "0", "4", "10", "+6"]
    assert last == f"{group}: dry run, nothing changed"
    assert committed(terminal, group) == {0: 4, 1: 4}


def test_reset_of_a_new_group_makes_it_and_says_so(
    terminal: Terminal, topic: str, unique: UniqueName
) -> None:
    name = unique("group")
    words = ["group", "reset-offsets", name, "--topic", f"{topic}:0", "--to-offset", "3"]

    planned = terminal.must(*words, "--dry-run")
    assert "does not exist yet" in planned.errors
    assert terminal.run("group", "describe", name).code == 1

    done = terminal.must(*words)
    assert done.output.splitlines()[-1] == f"{name}: 1 offset reset"
    assert done.errors == f"Note: Group '{name}' did not exist before.\n"
    assert committed(terminal, name) == {0: 3}


def test_reset_shift_where_nothing_is_committed_leaves_it_alone(
    terminal: Terminal, topic: str, unique: UniqueName
) -> None:
    name = unique("group")
    words = ["group", "reset-offsets", name, "--topic", topic, "--shift-by", "-1"]

    refused = terminal.run(*words)
    assert refused.code == 1
    assert "nothing to shift" in refused.errors

    terminal.must("group", "reset-offsets", name, "--topic", f"{topic}:0", "--to-offset", "3")
    assert "nothing committed: left alone" in terminal.must(*words).output
    assert committed(terminal, name) == {0: 2}


def test_reset_all_topics_of_a_group_without_offsets_fails(terminal: Terminal, unique: UniqueName) -> None:
    answer = terminal.run("group", "reset-offsets", unique("missing"), "--all-topics", "--to-latest")

    assert answer.code == 1
    assert "--all-topics names none" in answer.errors


def test_reset_of_what_is_not_there_fails(
    terminal: Terminal, topic: str, group: str, unique: UniqueName
) -> None:
    missing = unique("missing")
    no_topic = terminal.run("group", "reset-offsets", group, "--topic", missing, "--to-latest")
    assert no_topic.code == 1
    assert f"There is no topic '{missing}'" in no_topic.errors
    assert missing not in terminal.must("topic", "list").output

    no_partition = terminal.run("group", "reset-offsets", group, "--topic", f"{topic}:7", "--to-latest")
    assert no_partition.code == 2
    assert "has no partition 7" in no_partition.errors


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_reset_with_active_members_is_refused_and_says_what_to_do(
    terminal: Terminal, bootstrap: str, topic: str, group: str, protocol: str
) -> None:
    words = ["group", "reset-offsets", group, "--topic", topic, "--to-latest"]
    with joined(bootstrap, group, topic, protocol=protocol):
        refused = terminal.run(*words)
        planned = terminal.must(*words, "--dry-run")

        assert refused.code == 1
        assert refused.output == ""
        assert f"Group '{group}' has 1 active member (state " in refused.errors
        assert "Hint: Stop its consumers, or wait until the sessions of dead ones end; `penstock group " in (
            refused.errors
        )
        assert "has active members; they must stop" in planned.errors
        assert committed(terminal, group) == {0: 4, 1: 4}

    wait_until(lambda: describe(terminal, group)["state"] == "Empty", what="an empty group")
    terminal.must(*words)
    assert committed(terminal, group) == {0: 10, 1: 10}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_reset_is_where_a_consumer_goes_on(
    terminal: Terminal, bootstrap: str, topic: str, group: str, protocol: str
) -> None:
    terminal.must("group", "reset-offsets", group, "--all-topics", "--to-offset", "9")

    with closing(new_consumer(bootstrap, group, protocol)) as consumer:
        consumer.subscribe([topic])
        messages = consumer.consume(2, JOIN_SECONDS_MAX)
    assert sorted((message.partition(), message.offset()) for message in messages) == [(0, 9), (1, 9)]


# Delete.


def test_delete_group_is_gone_with_its_offsets(terminal: Terminal, group: str) -> None:
    assert terminal.must("group", "delete", group).output == f"{group}: deleted\n"

    assert terminal.run("group", "describe", group).code == 1
    assert not listed(terminal.must("group", "list", "--json"), group)


def test_delete_of_several_goes_on_after_a_missing_one(
    terminal: Terminal, group: str, unique: UniqueName
) -> None:
    missing = unique("missing")

    answer = terminal.run("group", "delete", missing, group)
    assert answer.code == 1
    assert answer.output == f"{group}: deleted\n"
    assert "GROUP_ID_NOT_FOUND" in answer.errors
    excused = terminal.must("group", "delete", missing, "--if-exists", "--json").json()
    assert excused == [{"group": missing, "outcome": "unchanged"}]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_delete_with_active_members_is_refused(
    terminal: Terminal, bootstrap: str, topic: str, group: str, protocol: str
) -> None:
    with joined(bootstrap, group, topic, protocol=protocol):
        answer = terminal.run("group", "delete", group, "--if-exists")

        assert answer.code == 1
        assert "NON_EMPTY_GROUP" in answer.errors
        assert "Hint: Stop its members first" in answer.errors


def test_delete_offsets_forgets_only_what_is_named(terminal: Terminal, topic: str, group: str) -> None:
    answer = terminal.must("group", "delete-offsets", group, "--topic", f"{topic}:0")

    assert answer.output == f"{topic}-0: deleted\n"
    assert committed(terminal, group) == {1: 4}


def test_delete_offsets_that_are_not_there_fails(terminal: Terminal, group: str, unique: UniqueName) -> None:
    answer = terminal.run("group", "delete-offsets", group, "--topic", unique("missing"))

    assert answer.code == 1
    assert "has committed no offset in topic" in answer.errors


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_delete_offsets_of_a_topic_that_is_read_is_refused(
    terminal: Terminal, bootstrap: str, topic: str, group: str, protocol: str
) -> None:
    with joined(bootstrap, group, topic, protocol=protocol):
        answer = terminal.run("group", "delete-offsets", group, "--topic", topic)

        assert answer.code == 1
        assert "GROUP_SUBSCRIBED_TO_TOPIC" in answer.errors
        assert committed(terminal, group) == {0: 4, 1: 4}
