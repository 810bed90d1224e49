"""``penstock consume`` against a real broker.

Most runs are inside this process, which spares each the second that starting and importing takes; those about
signals, pipes and the real streams are processes of their own.
"""

import json
import os
import pty
import re
import signal
import subprocess
import time

import pytest
from confluent_kafka import Producer
from tests.broker_process import penstock_command
from tests.cli.terminal import COMMAND_SECONDS_MAX, Terminal
from tests.conftest import UniqueName
from tests.raw_kafka import Connection as RawConnection
from tests.raw_kafka import Record as RawRecord
from tests.raw_kafka import build_batch

pytestmark = pytest.mark.slow


def test_consume_json_holds_every_field(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, "-k", ":", "-H", "h=x", stdin="k:v\n")

    record = json.loads(terminal.must("consume", topic, "--from-beginning", "-n", "1", "--json").output)
    assert record.pop("timestamp") > 1_600_000_000_000
    assert record == {
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "key": "k",
        "value": "v",
        "headers": [{"name": "h", "value": "x"}],
    }


def test_record_with_a_header_whose_name_is_no_text_is_shown_without_headers(
    terminal: Terminal, topic: str, bootstrap: str
) -> None:
    many = [RawRecord(value=b"before") for _ in range(50)]  # Python calls differently after some.
    odd = RawRecord(value=b"odd", headers=((b"\xff", b"1"),))
    with RawConnection(bootstrap) as connection:
        connection.produce(topic, 0, build_batch([*many, odd, RawRecord(value=b"next")]))

    lines = terminal.must("consume", topic, "--from-beginning", "-e", "--json").output.splitlines()
    assert [(each["value"], each["headers"]) for each in map(json.loads, lines[50:])] == [
        ("odd", None),
        ("next", []),
    ]
    twice = terminal.must("consume", topic, "-o", "50", "-e", "--headers", "-f", "%h %v\\n").output
    assert twice == "(names that are not UTF-8)\t(names that are not UTF-8) odd\n\t next\n"


@pytest.mark.parametrize(
    ("offset", "expected"),
    [("2", "c\nd\n"), ("-1", "d\n"), ("-99", "a\nb\nc\nd\n"), ("beginning", "a\nb\nc\nd\n"), ("end", "")],
)
def test_consume_offset_each_form_begins_there(
    terminal: Terminal, topic: str, offset: str, expected: str
) -> None:
    terminal.must("produce", topic, stdin="a\nb\nc\nd\n")

    assert terminal.must("consume", topic, "--offset", offset, "--exit-at-end").output == expected


def test_consume_offset_at_a_timestamp_begins_with_the_first_record_not_older(
    terminal: Terminal, topic: str
) -> None:
    terminal.must("produce", topic, stdin="a\n")
    first = int(terminal.must("consume", topic, "--from-beginning", "-n", "1", "-f", "%T").output)

    assert terminal.must("consume", topic, "-o", f"@{first}", "-e").output == "a\n"
    assert terminal.must("consume", topic, "-o", f"@{first + 1}", "-e").output == ""


def test_consume_offset_out_of_range_fails(terminal: Terminal, topic: str) -> None:
    answer = terminal.run("consume", topic, "--offset", "99", "--exit-at-end")

    assert answer.code == 1
    assert "Offset out of range" in answer.errors
    assert "Hint: See from where to where a topic goes" in answer.errors


def test_consume_topic_that_is_missing_fails_and_does_not_create_it(
    terminal: Terminal, unique: UniqueName
) -> None:
    name = unique("missing")

    answer = terminal.run("consume", name)
    assert answer.code == 1
    assert "Hint:" in answer.errors
    assert name not in terminal.must("topic", "list").output


def test_consume_partition_that_is_missing_is_a_usage_error(terminal: Terminal, topic: str) -> None:
    answer = terminal.run("consume", topic, "--partition", "4")

    assert answer.code == 2
    assert "has no partition 4" in answer.errors


def test_process_consume_follows_until_interrupted_and_ends_cleanly(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, stdin="before\n")
    with terminal.spawn("consume", topic, "--from-beginning") as follower:
        assert follower.stdout is not None
        try:
            assert follower.stdout.readline() == b"before\n"
            terminal.must("produce", topic, stdin="after\n")
            assert follower.stdout.readline() == b"after\n"
            follower.send_signal(signal.SIGINT)
            output, errors = follower.communicate(timeout=COMMAND_SECONDS_MAX)
        finally:
            follower.kill()
    assert (follower.returncode, output, errors) == (0, b"", b"")


def test_process_consume_into_a_closed_pipe_ends_quietly(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, stdin="line\n" * 50_000)
    with terminal.spawn("consume", topic, "--from-beginning") as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        try:
            assert reader.stdout.readline() == b"line\n"
            reader.stdout.close()
            assert reader.wait(COMMAND_SECONDS_MAX) == 0
            assert reader.stderr.read() == b""
        finally:
            reader.kill()


def test_process_consume_that_follows_notices_a_reader_that_has_had_enough(
    terminal: Terminal, topic: str
) -> None:
    terminal.must("produce", topic, stdin="the only line\n")
    with terminal.spawn("consume", topic, "--from-beginning") as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        try:
            assert reader.stdout.readline() == b"the only line\n"
            reader.stdout.close()
            assert reader.wait(COMMAND_SECONDS_MAX) == 0
            assert reader.stderr.read() == b""
        finally:
            reader.kill()


# Filters.


@pytest.fixture
def orders(terminal: Terminal, topic: str) -> str:
    """A topic with keys, JSON values and headers."""
    lines = "".join(f'key-{number % 2}:{{"n": {number}}}\n' for number in range(6))
    terminal.must("produce", topic, "-k", ":", "-H", "source=test", stdin=lines)
    return topic


def test_consume_key_prints_only_its_records(terminal: Terminal, orders: str) -> None:
    words = ["consume", orders, "--from-beginning", "-e", "--key", "key-1", "-f", "%o "]

    assert terminal.must(*words).output == "1 3 5 "


def test_consume_grep_prints_matching_values_and_counts_only_those(terminal: Terminal, orders: str) -> None:
    words = ["consume", orders, "--from-beginning", "--grep", "[35]}$", "-n", "2", "-f", "%v "]

    assert terminal.must(*words).output == '{"n": 3} {"n": 5} '


def test_consume_grep_of_nonsense_is_a_usage_error(terminal: Terminal, orders: str) -> None:
    answer = terminal.run("consume", orders, "--grep", "(")

    assert answer.code == 2
    assert "--grep '(' is no regular expression" in answer.errors


def produced_at(terminal: Terminal, topic: str, *timestamps: int) -> None:
    lines = "".join(json.dumps({"value": str(at), "timestamp": at}) + "\n" for at in timestamps)
    terminal.must("produce", topic, "--json-lines", stdin=lines)


def test_consume_since_and_until_print_what_lies_between_and_end(terminal: Terminal, topic: str) -> None:
    now = round(time.time() * 1000)
    produced_at(terminal, topic, now - 50_000, now - 40_000, now - 30_000, now - 20_000)

    words = ["consume", topic, "--since", "45s"]
    assert terminal.must(*words, "-e").output == f"{now - 40_000}\n{now - 30_000}\n{now - 20_000}\n"
    assert terminal.must(*words, "--until", f"@{now - 20_000}").output == (
        f"{now - 40_000}\n{now - 30_000}\n"
    )
    assert terminal.must(*words, "--until", "1s", "-n", "1").output == f"{now - 40_000}\n"
    assert terminal.must("consume", topic, "--since", "2s", "--until", "1s").output == ""


def test_consume_until_a_moment_to_come_follows_up_to_it(terminal: Terminal, topic: str) -> None:
    now = round(time.time() * 1000)
    produced_at(terminal, topic, now - 1_000, now + 60_000)

    words = ["consume", topic, "--from-beginning", "--until", f"@{now + 1_500}"]
    assert terminal.must(*words).output == f"{now - 1_000}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--since", "soon"], "no duration like 10m"),
        (["--since", "1m", "--from-beginning"], "exclude each other"),
        (["--since", "1m", "--offset", "1"], "exclude each other"),
        (["--group", "g", "--partition", "0"], "--group reads where the group stopped"),
        (["--group", "g", "--since", "1m"], "--group reads where the group stopped"),
        (["--isolation-level", "loose"], "'loose' is not one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_consume_mistake_is_a_usage_error(terminal: Terminal, words: list[str], said: str) -> None:
    answer = terminal.run("consume", "t", *words)

    assert answer.code == 2
    assert said in answer.errors


# How it looks.


def test_consume_pretty_indents_json_and_leaves_other_values(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, stdin='{"a":[1]}\nplain\n')
    words = ["consume", topic, "--from-beginning", "-e"]

    assert terminal.must(*words, "--pretty").output == '{\n  "a": [\n    1\n  ]\n}\nplain\n'
    assert terminal.must(*words).output == '{"a":[1]}\nplain\n'


def test_consume_headers_stand_before_each_record(terminal: Terminal, orders: str) -> None:
    words = ["consume", orders, "--from-beginning", "-n", "1", "--headers"]

    assert terminal.must(*words).output == 'source=test\t{"n": 0}\n'


# Groups and transactions.


def test_consume_in_a_group_goes_on_where_the_group_stopped(
    terminal: Terminal, orders: str, unique: UniqueName
) -> None:
    group = unique("group")
    words = ["consume", orders, "--group", group, "--from-beginning", "-f", "%o "]

    assert terminal.must(*words, "-n", "2").output == "0 1 "
    assert terminal.must(*words, "--exit-at-end").output == "2 3 4 5 "
    assert terminal.must(*words, "--exit-at-end").output == ""
    (described,) = terminal.must("group", "describe", group, "--json").json()
    assert described["lag"] == 0


def test_consume_in_a_group_commits_what_a_filter_dropped(
    terminal: Terminal, orders: str, unique: UniqueName
) -> None:
    group = unique("group")
    words = ["consume", orders, "--group", group, "--from-beginning", "-e"]

    assert terminal.must(*words, "--key", "nobody").output == ""
    assert terminal.must(*words).output == ""


def test_consume_in_a_group_of_a_missing_topic_fails(terminal: Terminal, unique: UniqueName) -> None:
    answer = terminal.run("consume", unique("missing"), "--group", unique("group"))

    assert answer.code == 1
    assert "Hint:" in answer.errors


def test_consume_isolation_level_decides_on_aborted_records(
    terminal: Terminal, topic: str, unique: UniqueName
) -> None:
    settings = {"bootstrap.servers": terminal.environment["PENSTOCK_BOOTSTRAP_SERVER"]}
    producer = Producer(settings | {"transactional.id": unique("transaction")})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, b"aborted")
    producer.flush()
    producer.abort_transaction()

    words = ["consume", topic, "--from-beginning", "-e"]
    assert terminal.must(*words).output == ""
    assert terminal.must(*words, "--isolation-level", "read_uncommitted").output == "aborted\n"


def test_process_consume_in_a_group_interrupted_has_committed_what_it_printed(
    terminal: Terminal, orders: str, unique: UniqueName
) -> None:
    group = unique("group")
    with terminal.spawn("consume", orders, "--group", group, "--from-beginning") as follower:
        assert follower.stdout is not None
        try:
            for number in range(6):
                assert follower.stdout.readline() == b'{"n": %d}\n' % number
            follower.send_signal(signal.SIGINT)
            assert follower.wait(COMMAND_SECONDS_MAX) == 0
        finally:
            follower.kill()
    (described,) = terminal.must("group", "describe", group, "--json").json()
    assert (described["lag"], described["state"]) == (0, "Empty")


def test_process_consume_on_a_terminal_indents_and_colours_json(terminal: Terminal, orders: str) -> None:
    ours, theirs = pty.openpty()
    try:
        words = ["consume", orders, "--from-beginning", "-n", "1"]
        environment = {**terminal.environment, "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        subprocess.run(
            [*penstock_command(), *words],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            env=environment,
            check=True,
            timeout=COMMAND_SECONDS_MAX,
        )
        screen = os.read(ours, 4096).decode()
    finally:
        os.close(ours)
        os.close(theirs)

    assert "\x1b[" in screen
    assert re.sub(r"\x1b\[[\d;]*m", "", screen).split("\r\n") == ["{", '  "n": 0', "}", ""]
