"""``penstock produce`` against a real broker.

Most runs are inside this process, which spares each the second that starting and importing takes; those about
signals, pipes and the real streams are processes of their own.
"""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.broker_process import penstock_command
from tests.cli.terminal import COMMAND_SECONDS_MAX, Terminal
from tests.cli.test_output import TerminalStream
from tests.conftest import UniqueName

pytestmark = pytest.mark.slow

QUEUED_RECORDS_MAX = 100_000
"""What librdkafka keeps by default before it takes nothing more."""


def test_produce_and_consume_lines_come_back_in_order(terminal: Terminal, topic: str) -> None:
    lines = "".join(f"line {number}\n" for number in range(500))

    said = terminal.must("produce", topic, stdin=lines).errors
    assert re.fullmatch(rf"produced 500 records to {topic}: 3\.8 KiB in [\d.]+ s, [\d,]+ a second\n", said)
    assert terminal.must("consume", topic, "--from-beginning", "-n", "500").output == lines


def test_produce_keys_and_headers_are_printed_by_the_format(terminal: Terminal, topic: str) -> None:
    terminal.must(
        "produce", topic, "-k", ":", "-H", "a=1", "-H", "b=", "-H", "a=2", stdin="alice:1\nplain\n:empty\n"
    )

    answer = terminal.must("consume", topic, "--from-beginning", "-e", "-f", "%t/%p@%o %K %k %v %h\\n")
    assert answer.output.splitlines() == [
        f"{topic}/0@0 5 alice 1 a=1,b=,a=2",
        f"{topic}/0@1 -1  plain a=1,b=,a=2",
        f"{topic}/0@2 0  empty a=1,b=,a=2",
    ]


def test_produce_json_says_where_each_record_went(terminal: Terminal, topic: str) -> None:
    answer = terminal.must("produce", topic, "--json", stdin="a\nb\n")

    assert [json.loads(line) for line in answer.output.splitlines()] == [
        {"topic": topic, "partition": 0, "offset": 0},
        {"topic": topic, "partition": 0, "offset": 1},
    ]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("acks", ["all", "1"])
def test_produce_with_codec_and_acks_arrives(terminal: Terminal, topic: str, codec: str, acks: str) -> None:
    text = "".join(f"{number} {'x' * 50}\n" for number in range(50))
    terminal.must("produce", topic, "--compression", codec, "--acks", acks, stdin=text)

    assert terminal.must("consume", topic, "--from-beginning", "-e").output == text


def test_produce_to_a_partition_goes_there(terminal: Terminal, unique: UniqueName) -> None:
    name = unique("cli")
    terminal.must("topic", "create", name, "-p", "3")
    terminal.must("produce", name, "--partition", "2", stdin="here\n")

    assert terminal.must("consume", name, "--from-beginning", "-n", "1", "-f", "%p %v").output == "2 here"


def test_produce_to_a_partition_that_is_not_there_fails(terminal: Terminal, topic: str) -> None:
    answer = terminal.run("produce", topic, "--partition", "9", stdin="lost\n")

    assert answer.code == 1
    assert "Unknown partition" in answer.errors


def test_process_lines_go_through_real_streams(terminal: Terminal, topic: str) -> None:
    with terminal.spawn("produce", topic) as producer:
        output, errors = producer.communicate(b"one\n\xff\xfe\nno newline", timeout=COMMAND_SECONDS_MAX)
    assert (producer.returncode, output) == (0, b"")
    assert errors.startswith(f"produced 3 records to {topic}: 15 B in ".encode())

    with terminal.spawn("consume", topic, "--from-beginning", "-n", "3") as consumer:
        output, errors = consumer.communicate(timeout=COMMAND_SECONDS_MAX)
    assert (consumer.returncode, output, errors) == (0, b"one\n\xff\xfe\nno newline\n", b"")


def test_process_produce_interrupted_delivers_what_it_read(terminal: Terminal, topic: str) -> None:
    with terminal.spawn("produce", topic, "--json") as producer:
        assert producer.stdin is not None
        assert producer.stdout is not None
        try:
            producer.stdin.write(b"typed\n")
            producer.stdin.flush()
            assert json.loads(producer.stdout.readline())["offset"] == 0
            producer.send_signal(signal.SIGINT)
            assert producer.wait(COMMAND_SECONDS_MAX) == 0
        finally:
            producer.kill()


def test_process_produce_failed_delivery_ends_it_though_input_goes_on(
    terminal: Terminal, unique: UniqueName
) -> None:
    name = unique("cli")
    terminal.must("topic", "create", name, "-c", "max.message.bytes=1000")
    with terminal.spawn("produce", name) as producer:
        assert producer.stdin is not None
        assert producer.stderr is not None
        try:
            producer.stdin.write(b"x" * 5_000 + b"\n")
            producer.stdin.flush()
            assert producer.wait(COMMAND_SECONDS_MAX) == 1
            assert b"MSG_SIZE_TOO_LARGE" in producer.stderr.read()
        finally:
            producer.kill()


# A reader of the pipe that goes away.


def test_process_produce_json_whose_reader_left_ends_though_its_queue_is_full(
    terminal: Terminal, topic: str, tmp_path: Path
) -> None:
    (tmp_path / "lines").write_text("x\n" * (QUEUED_RECORDS_MAX + 30_000))
    with terminal.spawn("produce", topic, str(tmp_path / "lines"), "--json") as producer:
        assert producer.stdout is not None
        assert producer.stderr is not None
        try:
            producer.stdout.readline()
            producer.stdout.close()
            assert producer.wait(COMMAND_SECONDS_MAX) == 1
            (error,) = producer.stderr.read().decode().splitlines()
        finally:
            producer.kill()

    told = re.search(r"broken pipe\. (\d+) of (\d+) were delivered\.$", error)
    assert told is not None
    # Records that were read are delivered, but for the one that found no room any more.
    delivered, read = map(int, told.groups())
    assert read - 1 <= delivered
    assert terminal.must("consume", topic, "-o", "-1", "-e", "-f", "%o").output == str(delivered - 1)


def test_process_produce_json_whose_reader_left_ends_though_input_goes_on(
    terminal: Terminal, topic: str
) -> None:
    with terminal.spawn("produce", topic, "--json") as producer:
        assert producer.stdin is not None
        assert producer.stdout is not None
        assert producer.stderr is not None
        try:
            producer.stdout.close()
            producer.stdin.write(b"typed\n")
            producer.stdin.flush()
            assert producer.wait(COMMAND_SECONDS_MAX) == 1
            assert b"broken pipe. 1 of 1 were delivered." in producer.stderr.read()
        finally:
            producer.kill()


def test_process_produce_json_that_nobody_can_be_told_of_fails_at_the_end_of_input(
    terminal: Terminal, topic: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [*penstock_command(), "produce", topic, "--json"]
        done = subprocess.run(
            command,
            input=b"one\ntwo\n",
            stdout=full,
            stderr=subprocess.PIPE,
            env=terminal.environment,
            timeout=COMMAND_SECONDS_MAX,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        f"Error: Cannot say where records of topic '{topic}' went: no space left on device. "
        "2 of 2 were delivered."
    ]


# Files and JSON lines.


def consumed(terminal: Terminal, topic: str) -> list[dict[str, object]]:
    text = terminal.must("consume", topic, "--from-beginning", "-e", "--json").output
    return [json.loads(line) for line in text.splitlines()]


def test_produce_files_are_sent_one_after_the_other(terminal: Terminal, topic: str, tmp_path: Path) -> None:
    for name, text in (("a", "1\n2\n"), ("b", "3")):
        (tmp_path / name).write_text(text)

    terminal.must("produce", topic, str(tmp_path / "a"), str(tmp_path / "b"), stdin="not this\n")
    assert [record["value"] for record in consumed(terminal, topic)] == ["1", "2", "3"]


def test_produce_files_show_a_bar_on_a_terminal(
    terminal: Terminal, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("x" * 2048 + "\n")
    screen = TerminalStream()
    monkeypatch.setattr(sys, "stderr", screen)

    terminal.must("produce", topic, str(tmp_path / "a"))
    assert "Sending" in screen.getvalue()
    assert f"produced 1 record to {topic}: 2.0 KiB" in screen.getvalue()


def test_produce_of_a_file_that_is_not_there_sends_nothing(
    terminal: Terminal, topic: str, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("1\n")

    answer = terminal.run("produce", topic, str(tmp_path / "a"), str(tmp_path / "b"))
    assert answer.code == 1
    assert f"Cannot read {tmp_path / 'b'}: no such file" in answer.errors
    assert "Hint: What follows the topic are files; to send text itself, `echo TEXT | " in answer.errors
    assert consumed(terminal, topic) == []


def test_produce_json_lines_sets_every_part_of_a_record(terminal: Terminal, unique: UniqueName) -> None:
    name = unique("cli")
    terminal.must("topic", "create", name, "-p", "3")
    line = {
        "key": "k",
        "value": {"n": 1},
        "headers": {"h": "x"},
        "partition": 2,
        "timestamp": 1_700_000_000_000,
    }

    terminal.must("produce", name, "--json-lines", "-H", "all=1", stdin=json.dumps(line) + "\n")
    assert consumed(terminal, name) == [
        {
            "topic": name,
            "partition": 2,
            "offset": 0,
            "timestamp": 1_700_000_000_000,
            "key": "k",
            "value": '{"n":1}',
            "headers": [{"name": "all", "value": "1"}, {"name": "h", "value": "x"}],
        }
    ]


def test_produce_json_lines_takes_what_consume_json_printed(
    terminal: Terminal, topic: str, unique: UniqueName
) -> None:
    terminal.must("produce", topic, "-k", ":", "-H", "h=1", "--tombstones", stdin="a:1\nb:\nplain\n")
    copy = unique("copy")
    terminal.must("topic", "create", copy, "-p", "1")
    printed = terminal.must("consume", topic, "--from-beginning", "-e", "--json").output
    terminal.must("produce", copy, "--json-lines", stdin=printed)

    assert [{**record, "topic": topic} for record in consumed(terminal, copy)] == consumed(terminal, topic)
    assert consumed(terminal, copy)[1]["value"] is None


def test_produce_json_line_that_is_none_says_which_and_what_was_sent(terminal: Terminal, topic: str) -> None:
    answer = terminal.run("produce", topic, "--json-lines", stdin='{"value": "good"}\n{"valeu": 1}\n')

    assert answer.code == 1
    assert answer.errors.splitlines()[0].startswith(f"produced 1 record to {topic}")
    assert "standard input, line 2 is no record in JSON: nothing is called 'valeu'." in answer.errors
    assert [record["value"] for record in consumed(terminal, topic)] == ["good"]


@pytest.mark.parametrize("words", [["-k", ":"], ["--tombstones"]], ids=" ".join)
def test_produce_json_lines_excludes_options_about_plain_lines(terminal: Terminal, words: list[str]) -> None:
    answer = terminal.run("produce", "t", "--json-lines", *words)

    assert answer.code == 2
    assert "--json-lines says of each record" in answer.errors


def test_produce_keep_going_counts_what_was_refused(terminal: Terminal, topic: str) -> None:
    lines = '{"value": "a"}\n{"value": "b", "partition": 9}\n{"value": "c"}\n'
    # The partitions are known after the first delivery only.
    terminal.must("produce", topic, stdin="first\n")

    answer = terminal.run("produce", topic, "--json-lines", "--keep-going", stdin=lines)
    assert answer.code == 1
    assert f"Cannot produce 1 of 3 records to topic '{topic}'" in answer.errors
    assert f"produced 2 records to {topic}" in answer.errors
    assert [record["value"] for record in consumed(terminal, topic)] == ["first", "a", "c"]
