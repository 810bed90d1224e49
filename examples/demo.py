"""The main job in one go: produce, consume, copy exactly once, kill a broker, run a pipeline on Spark.

Run it with ``make demo``. Brokers are processes of their own, on free ports and in temporary directories;
nothing is left behind. At a terminal it ends with a cluster that can be looked at with a browser, until
Ctrl-C; ``--no-keep`` ends at once. The exit code says whether everything that was acknowledged came back, and
whether every sum of the pipeline is right, which is killed and resumed in the middle. Spark needs a Java;
where there is none the demo says so and leaves that part out.
"""

import argparse
import importlib.util
import logging
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import playground
import revenue_pipeline
from rich.console import Console
from rich.progress import track
from rich.table import Table

from penstock import Admin, Consumer, Message, Producer
from penstock.testing import Broker, Cluster

ORDERS, INVOICES, PAYMENTS = "orders", "invoices", "payments"
PRODUCTS = (b"valve", b"pump", b"turbine", b"gauge", b"pipe")
TRANSACTIONS = 10
LOOKED_AT = 1_000
WAIT_SECONDS = 60.0
QUICK_TO_NOTICE = {"broker.session.timeout.ms": 1_000, "broker.heartbeat.interval.ms": 200}

console = Console(highlight=False)


@dataclass
class Report:
    """What was measured, and what was found wrong."""

    rows: list[tuple[str, int, float]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @contextmanager
    def timed(self, what: str, records: int) -> Iterator[None]:
        """Measure what happens in the block."""
        started = time.perf_counter()
        yield
        self.rows.append((what, records, time.perf_counter() - started))

    def expect(self, is_so: bool, sentence: str) -> None:
        """Say it, and remember if it is not so."""
        console.print(f"  [green]✓[/] {sentence}" if is_so else f"  [red]✗ not so:[/] {sentence}")
        if not is_so:
            self.problems.append(sentence)


def main(orders: int, *, is_kept: bool) -> int:
    """Run all of it."""
    report = Report()
    started = time.perf_counter()
    with Broker(process=True) as broker:
        seconds = time.perf_counter() - started
        say(f"one broker: penstock serve, ready on {broker.bootstrap_servers} after {seconds:.2f} s")
        with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topic(ORDERS, partitions=4)
            admin.create_topic(INVOICES)
        produce(broker.bootstrap_servers, orders, report)
        consume(broker.bootstrap_servers, orders, report)
        copy_exactly_once(broker.bootstrap_servers, orders // 10, report)
        analyze(broker.bootstrap_servers)
    logging.getLogger("penstock.client").setLevel(logging.CRITICAL)  # that a broker is gone is no news here
    with Cluster(3, process=True, settings=QUICK_TO_NOTICE) as cluster:
        lose_a_broker(cluster, orders // 10, report)
        run_a_pipeline(orders // 10, report)
        show(report)
        look_at_it(cluster, is_kept=is_kept)
    return 1 if report.problems else 0


def produce(servers: str, orders: int, report: Report) -> None:
    """Send keyed orders of 100 bytes. The defaults are the safe ones: acks=all, idempotent."""
    with report.timed("produced", orders), Producer(bootstrap_servers=servers) as producer:
        for number in track(range(orders), "  producing", console=console, transient=True):
            producer.send(ORDERS, b"%100d" % number, PRODUCTS[number % len(PRODUCTS)])
        producer.flush()
        failed = producer.metrics().records_failed
    report.expect(failed == 0, f"{orders:,} orders acknowledged, each of them on disk before")


def consume(servers: str, orders: int, report: Report) -> None:
    """Read them as a member of a group; orders of one product must come in order."""
    last: dict[bytes, int] = {}
    counts: Counter[bytes] = Counter()
    disorder = 0
    with (
        report.timed("consumed in a group", orders),
        Consumer(bootstrap_servers=servers, group_id="billing", auto_offset_reset="earliest") as consumer,
    ):
        consumer.subscribe(ORDERS)
        for message in consumer.messages(idle_timeout=WAIT_SECONDS):
            number = int(message.value)
            disorder += number <= last.get(message.key, -1)
            last[message.key] = number
            counts[message.key] += 1
            if counts.total() >= orders:
                break
    report.expect(counts.total() == orders, f"{counts.total():,} orders read back")
    report.expect(disorder == 0, f"{disorder} of them out of order")


def copy_exactly_once(servers: str, wanted: int, report: Report) -> None:
    """Copy orders to invoices, with the offsets in the same transactions; abort every third on the way."""
    copied = aborted = number = 0
    with (
        report.timed("copied exactly once", wanted),
        Consumer(
            bootstrap_servers=servers,
            group_id="copier",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        ) as consumer,
        Producer(bootstrap_servers=servers, transactional_id="copier") as producer,
    ):
        consumer.subscribe(ORDERS)
        while copied < wanted:
            messages = consumer.poll(WAIT_SECONDS, max_records=min(wanted // TRANSACTIONS, wanted - copied))
            number += 1
            with producer.transaction() as transaction:
                send_copies(producer, messages)
                transaction.send_offsets(consumer)
                if number % 3 == 0:
                    transaction.abort()
            if number % 3 == 0:
                consumer.rewind()
                aborted += 1
            else:
                copied += len(messages)
    found = read_all(servers, INVOICES, wanted)
    is_once = len(found) == len(set(found)) == wanted
    report.expect(
        is_once, f"{wanted:,} invoices, each exactly once, though {aborted} transactions were aborted"
    )


def send_copies(producer: Producer, messages: list[Message]) -> None:
    """An invoice for each order."""
    for message in messages:
        producer.send(INVOICES, message.value, message.key)


def analyze(servers: str) -> None:
    """What the files hold; the command line has the analysis."""
    say("what is stored, aborted copies included: penstock storage analyze")
    command = [sys.executable, "-m", "penstock", "storage", "analyze"]
    environment = {**os.environ, "PENSTOCK_BOOTSTRAP_SERVER": servers}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        console.print(f"  {line}", markup=False)


def lose_a_broker(cluster: Cluster, payments: int, report: Report) -> None:
    """Three brokers, three copies; the leader is killed by SIGKILL when half of the payments are sent."""
    say(f"three brokers: {cluster.bootstrap_servers}")
    cluster.create_topic(PAYMENTS, 3, replication_factor=3, min_insync_replicas=2)
    values = [b"payment %d" % number for number in range(payments)]
    victim = cluster.leader(PAYMENTS)
    with (
        report.timed("produced to three replicas, a leader killed", payments),
        Producer(bootstrap_servers=cluster.bootstrap_servers) as producer,
    ):
        for number, value in enumerate(values):
            producer.send(PAYMENTS, value)
            if number == payments // 2:
                victim = cluster.leader(PAYMENTS)
                victim.kill()
                console.print(f"  broker {victim.node_id}, a leader, is killed after {number:,} payments")
        producer.flush(WAIT_SECONDS)
        failed = producer.metrics().records_failed
    found = read_all(cluster.bootstrap_servers, PAYMENTS, payments, partitions=3)
    report.expect(failed == 0, f"{payments:,} payments acknowledged by those who are left")
    lost, doubled = len(set(values) - set(found)), len(found) - len(set(found))
    report.expect(lost == doubled == 0, f"{lost} payments lost, {doubled} doubled")
    victim.restart()


def run_a_pipeline(orders: int, report: Report) -> None:
    """Windows on Spark, killed and resumed in the middle; the pipeline is in revenue.yml."""
    say("a pipeline on Spark: revenue by minute and product, and an archive")
    missing = what_spark_misses()
    if missing:
        console.print(f"  left out: {missing}", markup=False)
        return
    with report.timed("windowed and archived on Spark, killed once", orders):
        is_right = revenue_pipeline.main(orders)
    report.expect(is_right, "every window counted once, with its exact sum, and every order archived once")


def look_at_it(cluster: Cluster, *, is_kept: bool) -> None:
    """The console on the cluster that has lost a broker and has it back, with a group that is behind."""
    if importlib.util.find_spec("fastapi") is None:
        say("no console: pip install 'penstock[gateway]'")
        return
    servers = cluster.bootstrap_servers
    cluster.create_topic(ORDERS, 3, replication_factor=3)
    with Producer(bootstrap_servers=servers, value_serializer="json") as producer:
        for number in range(LOOKED_AT):
            order = {"number": number, "product": PRODUCTS[number % len(PRODUCTS)].decode(), "total": number}
            producer.send(ORDERS, order, PRODUCTS[number % len(PRODUCTS)])
    with Consumer(bootstrap_servers=servers, group_id="billing", auto_offset_reset="earliest") as consumer:
        consumer.subscribe(ORDERS)
        consumer.poll(WAIT_SECONDS, max_records=LOOKED_AT // 2)
    command = [sys.executable, "-m", "penstock", "console", "--bootstrap-server", servers]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as gateway:
        try:
            assert gateway.stdout is not None
            console.print(gateway.stdout.readline().rstrip(), markup=False)
            if is_kept:
                console.print("  Ctrl-C ends it")
                gateway.wait()
        except KeyboardInterrupt:
            console.print("stopped")
        finally:
            gateway.terminate()


def what_spark_misses() -> str | None:
    """Why Spark cannot be run here; None if it can."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: pip install 'penstock[spark]'"
    from penstock.spark.sessions.errors import JavaNotFoundError
    from penstock.spark.sessions.java import find_java

    try:
        find_java(os.environ)
    except JavaNotFoundError as error:
        return str(error)
    return None


def read_all(servers: str, topic: str, expected: int, partitions: int = 1) -> list[bytes]:
    """All committed values, and a look for more than were expected."""
    found: list[bytes] = []
    with Consumer(bootstrap_servers=servers) as consumer:
        consumer.assign({(topic, number): 0 for number in range(partitions)})
        while len(found) < expected and (messages := consumer.poll(WAIT_SECONDS)):
            found += [message.value for message in messages]
        found += [message.value for message in consumer.poll(0.5)]
    return found


def say(sentence: str) -> None:
    """A headline."""
    console.print(f"[bold cyan]{sentence}[/]")


def show(report: Report) -> None:
    """The numbers."""
    table = Table("", title="acks=all, flushed before every acknowledgement", title_justify="left")
    for name in ("records", "seconds", "records/s"):
        table.add_column(name, justify="right")
    for what, records, seconds in report.rows:
        table.add_row(what, f"{records:,}", f"{seconds:.2f}", f"{records / seconds:,.0f}")
    console.print(table)
    console.print("[red]something is wrong[/]" if report.problems else "[green]all there, in order, once[/]")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--orders", type=int, default=200_000, help="how many to send (200000)")
    parser.add_argument(
        "--keep",
        action=argparse.BooleanOptionalAction,
        default=sys.stdout.isatty(),
        help="leave the cluster up to be looked at (so it is at a terminal)",
    )
    chosen = parser.parse_args()
    with playground.quiet_end():
        sys.exit(main(max(1_000, chosen.orders), is_kept=chosen.keep))
