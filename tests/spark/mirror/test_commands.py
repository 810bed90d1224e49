"""``penstock mirror run`` between two real clusters, in the Spark that all tests share."""

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminal import Terminal

from penstock.client import Admin, Producer
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.offset_map import read_map
from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SECONDS_MAX = 60.0


def produce(broker: Broker, topic: str) -> None:
    broker.create_topic(topic)
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send_batch((topic, b"%d" % number) for number in range(10))


def wait_mirrored(broker: Broker, topic: str) -> None:
    """Until all ten records of a topic are known to be at a target."""
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        points = {
            each.topic: entry.points
            for each, entry in read_map(Access(bootstrap_servers=broker.bootstrap_servers)).items()
        }
        if topic in points and points[topic][-1].source == 10:
            return
        time.sleep(0.2)


def forget_last_commit(commits: Path) -> None:
    """As if the driver had died when the last batch was at the target, and Spark did not know."""
    last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink()


def test_mirror_takes_up_new_topics_until_it_is_interrupted_and_goes_on_from_there(
    spark: "SparkSession",
    east: Broker,
    west: Broker,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal(east.bootstrap_servers, capsys, monkeypatch)
    words = ("--from", east.bootstrap_servers, "--to", west.bootstrap_servers)
    run = ("mirror", "run", *words, "--topics", ".*", "--rename", "east.{topic}", "--every", "1s")
    storage = ("--storage", str(tmp_path / "storage"))
    produce(east, "orders")

    def interrupt() -> None:
        wait_mirrored(west, "orders")
        produce(east, "payments")
        wait_mirrored(west, "payments")
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    ran = terminal.must(*run, *storage, "--json")
    watcher.join(SECONDS_MAX)
    last = json.loads(ran.output.splitlines()[-1])
    assert (last["records"], last["lag"]) == (20, 0)
    assert [each["copy"] for each in last["partitions"]] == ["east.orders", "east.payments"]
    assert "topic east.orders was created, partitions: 1" in ran.errors

    forget_last_commit(tmp_path / "storage" / "checkpoint" / "commits")
    again = terminal.must(*run, *storage, "--available-now")
    assert again.output.splitlines()[-1] == "10 records copied  lag 0"
    with Admin(bootstrap_servers=west.bootstrap_servers) as admin:
        ends = admin.list_offsets([("east.orders", 0), ("east.payments", 0)])
    assert set(ends.values()) == {11}  # ten records and the end of their transaction
