"""Windows over a topic into a topic, exactly once, while drivers and brokers die.

The sums are known: every window of every product must come out once, with its exact count and sum. A million
orders, ten dead drivers and three dead leaders take their time: ``make chaos`` runs it. The demo, which every
run of the tests includes, is the short form of it.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.broker_process import wait_until
from tests.chaos.vitals import long_run
from tests.cluster_processes import ProcessCluster
from tests.conftest import UniqueName

from penstock import Consumer, Producer

pytestmark = [
    pytest.mark.spark,
    pytest.mark.chaos,
    pytest.mark.slow,
    long_run,
]

PROGRAM = Path(__file__).with_name("revenue.py")
ORDERS = 1_000_000
ORDERS_PER_BATCH = ORDERS // 60
DRIVER_KILLS = 10
LEADER_KILLS = 3
PARTITIONS = 3
PRODUCTS = 7
EVENT_MS = 1_000_000
"""What the timestamps of all orders span, so that there are a hundred windows."""
WINDOW_MS = 10_000
FIRST_MS = 1_700_000_000_000
END_SECONDS_MAX = 500
SEED = 20


class Result(NamedTuple):
    """A row of the result."""

    start_ms: int
    product: str
    orders: int
    amount: int


def order(number: int) -> tuple[int, str, int]:
    """When, what and for how much; in the order of time."""
    return FIRST_MS + number * EVENT_MS // ORDERS, f"product {number % PRODUCTS}", number % 1_000


def place_orders(bootstrap: str, topic: str) -> None:
    with Producer(bootstrap_servers=bootstrap) as producer:
        for number in range(ORDERS):
            at_ms, product, amount = order(number)
            value = json.dumps({"product": product, "amount": amount}).encode()
            producer.send(topic, value, partition=number % PARTITIONS, timestamp_ms=at_ms)
        # A day later the watermark has passed all of these; nothing ever ends the window of this one.
        for partition in range(PARTITIONS):
            late = json.dumps({"product": "none", "amount": 0}).encode()
            producer.send(topic, late, partition=partition, timestamp_ms=FIRST_MS + 86_400_000)


def expected() -> Counter[Result]:
    counts: Counter[tuple[int, str]] = Counter()
    amounts: Counter[tuple[int, str]] = Counter()
    for number in range(ORDERS):
        at_ms, product, amount = order(number)
        place = (at_ms // WINDOW_MS * WINDOW_MS, product)
        counts[place] += 1
        amounts[place] += amount
    return Counter(Result(*place, counts[place], amounts[place]) for place in counts)


def committed(bootstrap: str, topic: str) -> Counter[Result]:
    """All rows of the result that a reader of committed records sees."""
    found: Counter[Result] = Counter()
    with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
        consumer.assign({(topic, number): 0 for number in range(PARTITIONS)})
        for message in consumer.messages(idle_timeout=3.0):
            row = json.loads(message.value)
            found[Result(row["start"], row["product"], row["n"], row["s"])] += 1
    return found


class Driver:
    """One life of the program; what it complains about goes to a file."""

    def __init__(self, process: "subprocess.Popen[str]", complaints: Path) -> None:
        self._process = process
        self._complaints = complaints

    def wait_batch(self) -> None:
        """Until it commits a micro-batch that had rows."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if int(line.split()[-1]):
                return
        self.check()

    def check(self) -> None:
        """It still runs."""
        assert self._process.poll() is None, self._complaints.read_text()[-5_000:]


@contextmanager
def driving(complaints: Path, *arguments: str) -> Iterator[Driver]:
    """A driver, killed in the end with everything that it has started."""
    with (
        complaints.open("w") as errors,
        subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield Driver(process, complaints)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.timeout(1_500)
def test_every_window_is_exact_whoever_dies(tmp_path: Path, unique: UniqueName) -> None:
    moments = random.Random(SEED)
    orders, revenue = unique("orders"), unique("revenue")
    cluster = ProcessCluster(tmp_path, node_count=3).start()
    try:
        for topic in (orders, revenue):
            cluster.create_topic(topic, partitions=PARTITIONS)
        place_orders(cluster.bootstrap, orders)
        arguments = (cluster.bootstrap, orders, revenue, str(tmp_path / "checkpoint"), str(ORDERS_PER_BATCH))
        for life in range(DRIVER_KILLS):
            with driving(tmp_path / "driver.log", *arguments) as driver:
                driver.wait_batch()
                if life < LEADER_KILLS:
                    kill_leader(cluster, moments.choice([orders, revenue, "__consumer_offsets"]))
                time.sleep(moments.uniform(0.0, 1.0))  # anywhere in a micro-batch
        with driving(tmp_path / "driver.log", *arguments) as driver:
            wanted = expected()

            def has_all() -> bool:
                driver.check()
                return committed(cluster.bootstrap, revenue).total() >= wanted.total()

            wait_until(has_all, what="all windows", seconds=END_SECONDS_MAX)
        assert committed(cluster.bootstrap, revenue) == wanted
    finally:
        cluster.close()


def kill_leader(cluster: ProcessCluster, topic: str) -> None:
    """Of some partition; it comes back at once, and then there are three again."""
    victim = cluster.leader_of(topic)
    victim.kill()
    victim.start()
