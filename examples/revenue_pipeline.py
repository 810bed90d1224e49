"""Orders become revenue by minute and product on Spark; everything is killed on the way, and no sum is wrong.

    python examples/revenue_pipeline.py

Three brokers keep the orders; a pipeline (revenue.yml) windows them into a topic, exactly once, and archives
them as Parquet files. In the middle the pipeline and a broker die by SIGKILL. The pipeline goes on where it
was; what it wrote is compared with what was sold, and the archive is asked the same question.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import playground

from penstock import Consumer, Producer
from penstock.testing import Cluster

PIPELINE = Path(__file__).with_name("revenue.yml")
ORDERS, REVENUE = "orders", "revenue"
PRODUCTS = ("valve", "pump", "turbine", "gauge", "pipe")
PARTITIONS = 3
RECORDS = 20_000
MINUTES = 20
LOG = "pipeline.log"
START = datetime(2026, 1, 31, 8, tzinfo=UTC)
WAIT_SECONDS = 120.0
QUICK_TO_NOTICE = {"broker.session.timeout.ms": 1_000, "broker.heartbeat.interval.ms": 200}

Sales = Counter[tuple[int, str]]
"""Something by minute and product."""


def main(records: int = RECORDS) -> bool:
    """The whole story; whether every sum was right."""
    logging.getLogger("penstock.client").setLevel(logging.CRITICAL)  # that a broker is gone is no news here
    with (
        tempfile.TemporaryDirectory(prefix="penstock-revenue-") as directory,
        Cluster(3, process=True, settings=QUICK_TO_NOTICE) as cluster,
    ):
        print(f"three brokers at {cluster.bootstrap_servers}")
        for topic in (ORDERS, REVENUE):
            # The orders are of a day long past, and are to be kept all the same.
            cluster.create_topic(
                topic, PARTITIONS, replication_factor=3, min_insync_replicas=2, retention_ms=-1
            )
        produce(cluster.bootstrap_servers, range(records // 2), records)
        print(f"{records // 2:,} orders acknowledged")
        with running_pipeline(cluster, directory):
            wait_for_results(cluster.bootstrap_servers, directory)
            victim = cluster.leader(ORDERS)
            victim.kill()
            print(f"the pipeline and broker {victim.node_id}, a leader, are killed by SIGKILL")
        produce(cluster.bootstrap_servers, range(records // 2, records), records)
        close_windows(cluster.bootstrap_servers)
        print(f"{records:,} orders acknowledged; the pipeline goes on where it was")
        with running_pipeline(cluster, directory, "--available-now") as pipeline:
            status = pipeline.wait(WAIT_SECONDS)
        return status == 0 and is_right(cluster.bootstrap_servers, directory, records)


def order(number: int, of: int) -> tuple[str, int, datetime]:
    """What is sold, for how much, when; orders come in the order of time."""
    sold_at = datetime.fromtimestamp(START.timestamp() + number * MINUTES * 60 / of, UTC)
    rush = 1 + min(number, of - number) * 8 // of  # more is sold in the middle
    return PRODUCTS[number * 7 % len(PRODUCTS)], (number % 97 + 1) * rush, sold_at


def produce(servers: str, numbers: range, of: int) -> None:
    """Send orders, keyed by their product, so that those of one product stay in order."""
    with Producer(bootstrap_servers=servers) as producer:
        for number in numbers:
            product, amount, sold_at = order(number, of)
            value = {"product": product, "amount": amount, "ts": sold_at.isoformat()}
            producer.send(ORDERS, json.dumps(value), product, timestamp_ms=int(sold_at.timestamp() * 1000))


def close_windows(servers: str) -> None:
    """An order of the next day, so that all windows before it are closed; its own stays open."""
    late = {"product": "none", "amount": 0, "ts": "2026-02-01T12:00:00Z"}
    with Producer(bootstrap_servers=servers) as producer:
        producer.send(ORDERS, json.dumps(late), "none")


@contextmanager
def running_pipeline(cluster: Cluster, directory: str, *options: str) -> "Iterator[subprocess.Popen[bytes]]":
    """``penstock pipeline run`` and the processes that it starts; all of them are killed in the end."""
    command = [sys.executable, "-m", "penstock", "pipeline", "run", str(PIPELINE), "--json", *options]
    environment = {
        **os.environ,
        "PENSTOCK_BOOTSTRAP_SERVER": cluster.bootstrap_servers,
        "REVENUE_DIRECTORY": directory,
    }
    with (Path(directory) / LOG).open("ab") as log:
        pipeline = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            yield pipeline
        except subprocess.TimeoutExpired:
            log.flush()
            sys.exit(f"The pipeline has not ended within {WAIT_SECONDS:g} s:\n{last_lines(log.name)}")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(pipeline.pid, signal.SIGKILL)
            pipeline.wait()
    if options and pipeline.returncode:
        sys.exit(f"The pipeline has failed:\n{last_lines(log.name)}")


def last_lines(path: str) -> str:
    """What the pipeline said last."""
    return "\n".join(Path(path).read_text().splitlines()[-200:])


def wait_for_results(servers: str, directory: str) -> None:
    """Until the pipeline has written some."""
    with Consumer(bootstrap_servers=servers) as consumer:
        consumer.assign({(REVENUE, number): 0 for number in range(PARTITIONS)})
        if consumer.consume_one(WAIT_SECONDS) is None:
            said = last_lines(f"{directory}/{LOG}")
            sys.exit(f"The pipeline has written nothing within {WAIT_SECONDS:g} s:\n{said}")


def is_right(servers: str, directory: str, records: int) -> bool:
    """Compare what was sold with what the pipeline counted, and with what the archive has."""
    sold, counted = expected(records), read_results(servers)
    show(counted)
    archived, total = query_archive(f"{directory}/archive")
    wrong = sum(1 for place in sold.keys() | counted.keys() if sold[place] != counted[place])
    print(f"{len(counted)} windows of {len(sold)} are there, {wrong} of them wrong")
    print(f"the archive has {archived:,} orders, worth {total:,}")
    return not wrong and archived == records + 1 and total == sold.total()


def expected(records: int) -> Sales:
    """What must come out."""
    sold: Sales = Counter()
    for number in range(records):
        product, amount, sold_at = order(number, records)
        sold[int(sold_at.timestamp()) // 60, product] += amount
    return sold


def read_results(servers: str) -> Sales:
    """What came out, for a reader of committed records; a window that came twice would count twice."""
    counted: Sales = Counter()
    with Consumer(bootstrap_servers=servers) as consumer:
        consumer.assign({(REVENUE, number): 0 for number in range(PARTITIONS)})
        for message in consumer.messages(idle_timeout=3.0):
            row = json.loads(message.value)
            minute = datetime.fromisoformat(row["window_start"]).timestamp() // 60
            counted[int(minute), row["product"]] += row["revenue"]
    return counted


def query_archive(path: str) -> tuple[int, int]:
    """How many orders the archive has, and what they are worth; Spark is asked by a process of its own."""
    command = [sys.executable, __file__, "--archive", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT_SECONDS)
    if done.returncode:
        sys.exit(f"The archive could not be read:\n{done.stderr}")
    count, total = json.loads(done.stdout)
    return count, total


def print_archive(path: str) -> None:
    """Ask in SQL, and print the answer as JSON."""
    from penstock.spark import archive, session, shutdown

    spark = session("archive", short=True)
    archive.read(spark, path).createOrReplaceTempView("kept")
    amount = "CAST(get_json_object(CAST(value AS STRING), '$.amount') AS BIGINT)"
    ((count, total),) = spark.sql(f"SELECT count(*), sum({amount}) FROM kept").collect()
    print(json.dumps([count, total]))
    shutdown()


def show(counted: Sales) -> None:
    """The revenue by product as a table, and by minute as a plot."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table("product", title="revenue", title_justify="left")
    table.add_column("total", justify="right")
    by_product: Counter[str] = Counter()
    by_minute: Counter[int] = Counter()
    for (minute, product), amount in counted.items():
        by_product[product] += amount
        by_minute[minute] += amount
    for product, amount in by_product.most_common():
        table.add_row(product, f"{amount:,}")
    console.print(table)
    most = max(by_minute.values(), default=1)
    for minute, amount in sorted(by_minute.items()):
        bar = "█" * round(40 * amount / most)
        console.print(f"{datetime.fromtimestamp(minute * 60, UTC):%H:%M} {bar} {amount:,}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--archive"]:
        print_archive(sys.argv[2])
        sys.exit()
    started = time.perf_counter()
    with playground.quiet_end():
        if not main():
            sys.exit("Some sums are wrong.")
    print(f"every sum is right, after {time.perf_counter() - started:.0f} s")
