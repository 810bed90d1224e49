"""Every example does what its first lines say, by what it prints."""

import re
from collections import defaultdict

import pytest
from tests.examples.running import EXAMPLES, interrupt_example, run_example, start_example

from penstock import Admin
from penstock.testing import Broker

pytestmark = pytest.mark.slow

TESTED = {
    "simple_producer",
    "simple_consumer",
    "pubsub_demo",
    "order_processing",
    "backpressure",
    "exactly_once_copy",
    "async_fanout",
    "distributed_setup",
    "storage_management_demo",
    "demo",
    "revenue_pipeline",  # by the demo, whose last part it is
}


def number_in(lines: list[str], pattern: str) -> int:
    """The number in the one line that matches."""
    (found,) = [match for line in lines if (match := re.search(pattern, line))]
    return int(found[1].replace(",", ""))


def test_every_example_is_tested_and_on_the_list() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")} - {"playground"}
    listed = set(re.findall(r"^\| \[(\w+)\.py\]", (EXAMPLES / "README.md").read_text(), flags=re.MULTILINE))
    assert names == TESTED == listed


def test_simple_producer_alone_stores_each_key_in_one_partition_in_order() -> None:
    lines = run_example("simple_producer")
    places = defaultdict(list)
    for number, partition, offset in re.findall(
        r"event (\d+) .* partition (\d+), offset (\d+)", "\n".join(lines)
    ):
        places[int(number) % 3].append((int(partition), int(offset)))
    assert sum(map(len, places.values())) == 10
    for of_one_key in places.values():
        assert len({partition for partition, _ in of_one_key}) == 1
        assert of_one_key == sorted(of_one_key)
    assert lines[-1] == "10 events acknowledged"


def test_simple_consumer_alone_reads_what_it_has_sent() -> None:
    lines = run_example("simple_consumer")
    assert sorted(map(int, re.findall(r"'number': (\d+)", "\n".join(lines)))) == list(range(10))
    assert lines[-1] == "10 events read"


def test_simple_consumer_on_a_running_broker_goes_on_after_ctrl_c() -> None:
    with Broker() as broker:
        where = ("--bootstrap-server", broker.bootstrap_servers)
        run_example("simple_producer", *where)
        consumer = start_example("simple_consumer", *where)
        assert interrupt_example(consumer, 11)[::2] == (0, "")
        run_example("simple_producer", *where)
        status, lines, complaints = interrupt_example(start_example("simple_consumer", *where), 11)
    assert (status, complaints) == (0, "")
    assert sorted(map(int, re.findall(r"'number': (\d+)", "\n".join(lines)))) == list(range(10))
    assert lines[-1] == "10 events read"


def test_pubsub_demo_subscriber_that_comes_back_gets_what_it_missed() -> None:
    lines = run_example("pubsub_demo")
    assert "the phone missed 4 notifications and got 4 of them later" in lines
    assert "the dashboard got 8 notifications" in lines
    back = lines.index("the phone is back, and goes on where it stopped")
    assert not any("Welcome!" in line for line in lines[back : back + 6])


def test_order_processing_three_workers_keep_every_customer_in_order() -> None:
    lines = run_example("order_processing")
    shares = dict(re.findall(r"^([ABC]) processed (\d+) orders", "\n".join(lines), flags=re.MULTILINE))
    assert sorted(shares) == ["A", "B", "C"]
    assert all(int(count) > 0 for count in shares.values())
    assert lines[-1] == "600 orders processed, 12 of 12 customers in order"


def test_backpressure_both_sides_stay_within_their_bounds() -> None:
    lines = run_example("backpressure")
    assert lines[0] == "refused after 100 records: BufferFull"
    assert number_in(lines, r"never more than (\d+) waiting") <= 100
    assert number_in(lines, r"the consumer paused (\d+) times") > 0
    assert lines[-1] == "300 jobs done, all of them once and in order: yes"


def test_exactly_once_copy_killed_copier_leaves_no_gap_and_no_double() -> None:
    lines = run_example("exactly_once_copy")
    assert "the copier was killed" in lines
    assert number_in(lines, r"written in all, (\d+) of them aborted") > 0
    assert lines[-1] == "1000 of 1000 orders copied exactly once"


def test_async_fanout_every_group_gets_everything() -> None:
    lines = run_example("async_fanout")
    for group in ("billing", "shipping", "analytics"):
        (line,) = [line for line in lines if line.startswith(group)]
        assert line.endswith("got 2000 events and committed 2000")


def test_distributed_setup_killed_broker_costs_no_record() -> None:
    lines = run_example("distributed_setup")
    assert any("is killed after 1500 records" in line for line in lines)
    assert "0 records are there twice" in lines
    assert "3000 acknowledged, 3000 read, 0 lost" in lines
    assert all(line.endswith("in sync: 1, 2, 3") for line in lines if "in the end" in line)


def test_storage_management_demo_each_way_makes_a_topic_smaller() -> None:
    lines = run_example("storage_management_demo")
    plain = number_in(lines, r"'none': ([\d,]+) bytes")
    assert all(
        number_in(lines, rf"'{codec}': ([\d,]+) bytes") < plain / 2 for codec in ("gzip", "lz4", "zstd")
    )
    assert number_in(lines, r"deleted by hand: offsets 2000 to 5000, ([\d,]+) bytes") < number_in(
        lines, r"^5,000 readings: offsets 0 to 5000, ([\d,]+) bytes"
    )
    assert any("a day later" in line and "offsets 5000 to 5000, 0 bytes" in line for line in lines)
    assert 50 <= number_in(lines, r"compacted to (\d+) records") < 1_500
    assert lines[-1] == "50 sensors are there, each with its newest reading: yes"


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_demo_does_the_whole_job_and_tells_the_numbers() -> None:
    lines = run_example("demo", "--orders", "20000", seconds_max=280)
    text = "\n".join(lines)
    assert "✗" not in text
    assert "✓ 20,000 orders acknowledged, each of them on disk before" in text
    assert "✓ 20,000 orders read back" in text
    assert "✓ 0 of them out of order" in text
    assert number_in(lines, r"✓ 2,000 invoices, each exactly once, though (\d+) transactions") > 0
    assert re.search(r"^ +orders +4 +20,000 ", text, flags=re.MULTILINE)
    assert "a leader, is killed after 1,000 payments" in text
    assert "✓ 0 payments lost, 0 doubled" in text
    assert "100 windows of 100 are there, 0 of them wrong" in text
    assert "✓ every window counted once, with its exact sum, and every order archived once" in text
    assert [
        name for name in ("produced ", "consumed ", "copied ") if not re.search(rf"│ {name}.*│.*\d", text)
    ] == []
    assert lines[-2] == "all there, in order, once"
    assert re.fullmatch(r"console on http://127\.0\.0\.1:\d+/", lines[-1])


@pytest.mark.parametrize(
    ("name", "first_lines"),
    [("pubsub_demo", 1), ("async_fanout", 1), ("exactly_once_copy", 2), ("distributed_setup", 5)],
)
def test_example_ends_in_good_order_on_ctrl_c(name: str, first_lines: int) -> None:
    # Ctrl-C may come in the middle of an import, whose file is then closed by whoever finds it. The copy is
    # interrupted when its other process has spoken, since a process that has just begun cannot ignore it. The
    # cluster is when its clients are made: librdkafka's binding takes Ctrl-C in its constructors for a bad
    # setting.
    process = start_example(name, warnings="ignore::ResourceWarning")
    status, lines, complaints = interrupt_example(process, first_lines)
    assert (status, complaints) == (130, ""), complaints
    assert lines[-1] == "stopped"


@pytest.mark.parametrize("name", ["order_processing", "storage_management_demo"])
def test_example_on_a_running_broker_leaves_no_topic_behind(name: str) -> None:
    with Broker() as broker:
        run_example(name, "--bootstrap-server", broker.bootstrap_servers)
        with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
            assert admin.list_topics() == []
