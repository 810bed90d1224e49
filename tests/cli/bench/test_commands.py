"""Benchmarks: that they run and count; what they measure is nobody's test."""

from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.conftest import UniqueName

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("client", ["raw", "librdkafka"])
def test_bench_consume_of_a_missing_topic_hints_at_those_that_are_there(
    terminal: Terminal, unique: UniqueName, client: str
) -> None:
    answer = terminal.run("bench", "consume", "--topic", unique("nowhere"), "--client", client)

    assert answer.code == 1
    assert "UNKNOWN_TOPIC_OR_PARTITION" in answer.errors
    assert "Hint: See what there is with `penstock topic list`; without --topic" in answer.errors


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
