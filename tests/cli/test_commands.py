"""Commands against a real broker: what people type and what they get.

Most run inside this process, which spares each the second that starting and importing takes; those about
signals, pipes and the real streams are processes of their own.
"""

import json
import signal
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

pytestmark = pytest.mark.slow

COMMAND_SECONDS_MAX = 60.0


@pytest.fixture
def topic(terminal: Terminal, unique: UniqueName) -> str:
    """A topic of one partition, so that records keep their order."""
    name = unique("cli")
    terminal.must("topic", "create", name, "--partitions", "1")
    return name


# Topics.


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


# Produce and consume.


def test_produce_and_consume_lines_come_back_in_order(terminal: Terminal, topic: str) -> None:
    lines = "".join(f"line {number}\n" for number in range(500))

    assert terminal.must("produce", topic, stdin=lines).errors == f"produced 500 records to {topic}\n"
    assert terminal.must("consume", topic, "--from-beginning", "-n", "500").output == lines


def test_produce_keys_and_headers_are_printed_by_the_format(terminal: Terminal, topic: str) -> None:
    terminal.must("produce", topic, "-k", ":", "-H", "a=1", "-H", "b=", stdin="alice:1\nplain\n:empty\n")

    answer = terminal.must("consume", topic, "--from-beginning", "-e", "-f", "%t/%p@%o %K %k %v %h\\n")
    assert answer.output.splitlines() == [
        f"{topic}/0@0 5 alice 1 a=1,b=",
        f"{topic}/0@1 -1  plain a=1,b=",
        f"{topic}/0@2 0  empty a=1,b=",
    ]


def test_produce_json_says_where_each_record_went(terminal: Terminal, topic: str) -> None:
    answer = terminal.must("produce", topic, "--json", stdin="a\nb\n")

    assert [json.loads(line) for line in answer.output.splitlines()] == [
        {"topic": topic, "partition": 0, "offset": 0},
        {"topic": topic, "partition": 0, "offset": 1},
    ]


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


# As processes.


def test_process_lines_go_through_real_streams(terminal: Terminal, topic: str) -> None:
    with terminal.spawn("produce", topic) as producer:
        output, errors = producer.communicate(b"one\n\xff\xfe\nno newline", timeout=COMMAND_SECONDS_MAX)
    assert (producer.returncode, output, errors) == (0, b"", f"produced 3 records to {topic}\n".encode())

    with terminal.spawn("consume", topic, "--from-beginning", "-n", "3") as consumer:
        output, errors = consumer.communicate(timeout=COMMAND_SECONDS_MAX)
    assert (consumer.returncode, output, errors) == (0, b"one\n\xff\xfe\nno newline\n", b"")


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


# Benchmarks: that they run and count; what they measure is nobody's test.


@pytest.mark.parametrize("client", ["raw", "librdkafka"])
def test_bench_produce_counts_records(terminal: Terminal, client: str) -> None:
    words = ["--client", client, "--seconds", "0.3", "--warm-up", "0.1", "--records", "5000"]
    (found,) = terminal.must("bench", "produce", *words, "--json").json()

    assert found["client"] == client
    assert found["records"] > 0
    assert found["megabytes_per_second"] > 0


@pytest.mark.parametrize("acks", ["0", "1"])
def test_bench_produce_with_weaker_acks_counts_records(terminal: Terminal, acks: str) -> None:
    words = ["--acks", acks, "--seconds", "0.3", "--warm-up", "0.1", "--compression", "lz4"]
    (found,) = terminal.must("bench", "produce", *words, "--json").json()

    assert found["records"] > 0
    assert (found["latency"] is None) == (acks == "0")


def test_bench_produce_to_own_topic_leaves_its_records_there(terminal: Terminal, topic: str) -> None:
    words = ["--topic", topic, "--seconds", "0.2", "--warm-up", "0.1", "--json"]
    (found,) = terminal.must("bench", "produce", *words).json()

    (described,) = terminal.must("topic", "describe", topic, "--json").json()
    assert described["partitions"][0]["end_offset"] >= found["records"] > 0


@pytest.mark.parametrize("client", ["raw", "librdkafka"])
def test_bench_consume_reads_everything(terminal: Terminal, topic: str, client: str) -> None:
    terminal.must("produce", topic, stdin="x" * 100 + "\n" + "y" * 100 + "\n")
    words = ["--topic", topic, "--client", client, "--json"]
    (found,) = terminal.must("bench", "consume", *words).json()

    assert found["records"] == 2


def test_bench_consume_fills_a_topic_and_removes_it(terminal: Terminal) -> None:
    words = ["--fill-mb", "2", "--passes", "2"]
    text = terminal.must("bench", "consume", *words).output

    assert text.splitlines()[0].split()[:3] == ["BENCHMARK", "CLIENT", "MESSAGES/S"]
    assert "penstock-bench-" not in terminal.must("topic", "list").output


def test_bench_latency_knows_percentiles_and_the_disk(terminal: Terminal, tmp_path: Path) -> None:
    words = ["--rate", "500", "--seconds", "0.5", "--data-dir", str(tmp_path), "--json"]
    flow, trips = terminal.must("bench", "latency", *words).json()

    assert flow["records"] == pytest.approx(250, abs=25)
    assert 0 < flow["latency"]["p50_ms"] <= flow["latency"]["p99_ms"] <= flow["latency"]["p999_ms"]
    assert trips["facts"]["ratio_to_fdatasync"] > 0


def test_bench_topic_that_is_missing_fails_at_once(terminal: Terminal, unique: UniqueName) -> None:
    answer = terminal.run("bench", "produce", "--topic", unique("missing"))

    assert answer.code == 1
    assert "UNKNOWN_TOPIC_OR_PARTITION" in answer.errors
