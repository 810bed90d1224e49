"""What Spark gets out of topics and puts into them: ``python benchmarks/spark.py``.

Broker, Spark and the load share the machine, so rates are compared with each other: reading with Spark's own
reader of Parquet files of the same rows, small micro-batches with those of Spark's own generator, writing
exactly once with writing at least once. ``--jars DIRECTORY`` has the jars of Spark's own Kafka connector and
measures that, too. Each figure is the best of some rounds in turn; nothing is asserted but that all rows
arrive.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import confluent_kafka
import micro_batches
from pyspark.sql.functions import expr
from report import new_parser, report
from subjects import PenstockProcess
from table import Line

import penstock
from penstock.spark import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VALUE_BYTES = 100
PARTITIONS = 2
ROWS_PER_SECOND_ASKED = 500_000
PARQUET_SHARE_ASKED = 0.5
WINDOW_ROWS_PER_SECOND_ASKED = 150_000
WINDOW_ROWS_PER_BATCH = 500_000
MICRO_ROUNDS = 4
RATE_TIMES_ASKED = 1.5
EXACT_SHARE_ASKED = 0.5
LATENCY_SECONDS_ASKED = 1.0
LATENCIES = 20
WAIT_SECONDS_MAX = 180
FILLED = "filled"
STREAMED = "streamed"
STREAMED_ROWS = 200_000


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = new_parser(__doc__)
    add = parser.add_argument
    add("--rows", type=int, default=2_000_000, help="to read and to write (default: 2,000,000)")
    add("--rounds", type=int, default=3, help="of measurements in turn (default: 3)")
    add("--jars", type=Path, metavar="DIRECTORY", help="jars of Spark's own Kafka connector")
    add("--only", choices=list(PARTS), action="append", help="measure this alone; may be repeated")
    report(_all_lines, parser.parse_args())


def _all_lines(directory: Path, options: argparse.Namespace) -> Iterator[Line]:
    jars = sorted(options.jars.glob("*.jar")) if options.jars else []
    conf = {"spark.jars": ",".join(map(str, jars))} if jars else {}
    with PenstockProcess(directory / "data") as broker:
        bench = _Bench(broker.bootstrap_server, directory, options, has_connector=bool(jars))
        bench.fill()
        _let_workers_import(Path(__file__).parent)
        bench.spark = session("benchmark", "local[2,4]", conf={**conf, "spark.driver.memory": "2g"})
        for name, lines in PARTS.items():
            if not options.only or name in options.only:
                print(f"... {name}", file=sys.stderr, flush=True)
                yield from lines(bench)
        bench.spark.stop()


def _let_workers_import(directory: Path) -> None:
    paths = (str(directory), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)


class _Bench:
    """What all parts share."""

    spark: "SparkSession"

    def __init__(
        self, server: str, directory: Path, options: argparse.Namespace, *, has_connector: bool
    ) -> None:
        self.server = server
        self.directory = directory
        self.rows: int = options.rows
        self.rounds: int = options.rounds
        self.has_connector = has_connector

    @property
    def options(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.server}

    def fill(self) -> None:
        """A topic of so many rows, in order, with keys.

        Each has a value of its own: of one that all rows share, Parquet would keep a single copy.
        """
        with penstock.Admin(bootstrap_servers=self.server) as admin:
            for topic in (FILLED, "exact", "plain", "asked", "answered"):
                admin.create_topic(topic, partitions=PARTITIONS, config={"retention.ms": "-1"})
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": self.server, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}
        )
        for number in range(self.rows):
            value = random.randbytes(VALUE_BYTES)
            while True:
                try:
                    producer.produce(FILLED, value, b"%016d" % number, number % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(0.05)
        if producer.flush(WAIT_SECONDS_MAX):
            raise SystemExit("the topic could not be filled")

    def fill_streamed(self) -> None:
        """A topic as our producer makes it by itself: of large record batches, each would be read often."""
        with penstock.Admin(bootstrap_servers=self.server) as admin:
            admin.create_topic(STREAMED, partitions=PARTITIONS)
        with penstock.Producer(bootstrap_servers=self.server) as producer:
            for number in range(STREAMED_ROWS):
                value = random.randbytes(VALUE_BYTES)
                producer.send(STREAMED, value, key=b"%016d" % number, partition=number % PARTITIONS)

    def table(self, source: str = "penstock") -> "DataFrame":
        reader = self.spark.read.format(source).options(**self.options, subscribe=FILLED)
        return reader.load()

    def best_rates(self, measures: dict[str, Callable[[], float]]) -> dict[str, float]:
        """Rows a second of each, the best of all rounds but the first, which warms up."""
        rates: dict[str, list[float]] = {name: [] for name in measures}
        for number in range(self.rounds + 1):
            for name, measure in measures.items():
                rate = self.rows / measure()
                if number:
                    rates[name].append(rate)
        return {name: max(found) for name, found in rates.items()}


def _seconds(rows: "DataFrame") -> float:
    began = time.perf_counter()
    rows.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - began


def _reading(bench: _Bench) -> Iterator[Line]:
    files, alike = str(bench.directory / "files"), str(bench.directory / "alike")
    bench.table().write.parquet(files)
    one_value = f"unhex('{random.randbytes(VALUE_BYTES).hex()}')"
    bench.table().withColumn("value", expr(one_value)).write.parquet(alike)
    if bench.table().count() != bench.rows:
        raise SystemExit("not all rows were read")
    measures = {
        "penstock, all columns": lambda: _seconds(bench.table()),
        "penstock, value and timestamp": lambda: _seconds(_projected(bench)),
        "Parquet, all columns": lambda: _seconds(bench.spark.read.parquet(files)),
        "Parquet, all values alike": lambda: _seconds(bench.spark.read.parquet(alike)),
    }
    if bench.has_connector:
        measures["Spark's connector in Java"] = lambda: _seconds(bench.table("kafka"))
    rates = bench.best_rates(measures)
    title = f"batch read of {bench.rows:,} rows of {VALUE_BYTES} B"
    ours, files_rate = rates["penstock, all columns"], rates["Parquet, all columns"]
    for name, rate in rates.items():
        is_first = name == "penstock, all columns"
        yield Line(
            key=f"read-{name}",
            title=title,
            subject=name,
            value=rate,
            unit="rows/s",
            target=f"{ROWS_PER_SECOND_ASKED:,}" if is_first else f"ours is {ours / rate:.2f} of it",
            ratio=rate / ROWS_PER_SECOND_ASKED if is_first else None,
        )
    yield Line(
        key="read-share",
        title=title,
        subject="share of Parquet",
        value=ours / files_rate,
        unit="",
        target=f"{PARQUET_SHARE_ASKED}",
        ratio=ours / files_rate / PARQUET_SHARE_ASKED,
    )


def _projected(bench: _Bench) -> "DataFrame":
    reader = bench.spark.read.format("penstock").schema("value binary, timestamp timestamp")
    return reader.options(**bench.options, subscribe=FILLED).load()


def _windows(bench: _Bench) -> Iterator[Line]:
    """Sustained: the time of whole micro-batches, planning and commits included."""
    found = []
    for number in range(bench.rounds):
        stream = bench.spark.readStream.format("penstock").options(
            **bench.options,
            subscribe=FILLED,
            startingOffsets="earliest",
            maxOffsetsPerTrigger=str(WINDOW_ROWS_PER_BATCH),
        )
        counted = stream.load().withWatermark("timestamp", "1 minute")
        counts = counted.selectExpr("window(timestamp, '1 second') as w", "partition", "timestamp")
        writer = counts.groupBy("w", "partition").count().writeStream.format("noop").outputMode("update")
        checkpoint = str(bench.directory / f"windows-{number}")
        query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        if not query.awaitTermination(WAIT_SECONDS_MAX):
            raise SystemExit("the windows have not ended")
        batches = [progress for progress in query.recentProgress if progress.numInputRows]
        if sum(progress.numInputRows for progress in batches) != bench.rows:
            raise SystemExit("not all rows went through the windows")
        seconds = sum(progress.durationMs["triggerExecution"] for progress in batches) / 1000
        found.append(bench.rows / seconds)
    yield Line(
        key="windows",
        title=f"windows over a stream, {WINDOW_ROWS_PER_BATCH:,} rows a micro-batch",
        subject="penstock",
        value=max(found),
        unit="rows/s",
        target=f"{WINDOW_ROWS_PER_SECOND_ASKED:,}",
        ratio=max(found) / WINDOW_ROWS_PER_SECOND_ASKED,
        details={"rounds": found},
    )


def _micro_batches(bench: _Bench) -> Iterator[Line]:
    directory = bench.directory / "micro-batches"
    title = f"micro-batch of {micro_batches.ROWS:,} rows, stateless"
    bench.fill_streamed()
    rounds = [
        (
            micro_batches.of_penstock(bench.spark, bench.server, STREAMED, directory / f"small-{number}"),
            micro_batches.of_penstock(bench.spark, bench.server, FILLED, directory / f"large-{number}"),
            micro_batches.of_still(bench.spark, directory / str(number)),
            micro_batches.of_rate(bench.spark, directory / str(number)),
        )
        for number in range(MICRO_ROUNDS)
    ]
    # In turns, since Java gets faster all the time: whoever came last would win. The first round warms up.
    ours, large, still, rate = (statistics.median(each) for each in zip(*rounds[1:], strict=True))
    yield Line(key="micro-rate", title=title, subject="Spark's rate source", value=rate, unit="ms")
    yield Line(
        key="micro-still",
        title=title,
        subject="a source in Python that asks nobody",
        value=still,
        unit="ms",
        target=f"{still / rate:.2f} times the rate source's",
    )
    yield Line(
        key="micro-penstock",
        title=title,
        subject="penstock, tuned session",
        value=ours,
        unit="ms",
        target=f"at most {RATE_TIMES_ASKED} times the rate source's",
        ratio=RATE_TIMES_ASKED * rate / ours,
        details={"rounds": rounds},
    )
    yield Line(
        key="micro-large",
        title=title,
        subject="penstock, parts of large record batches",
        value=large,
        unit="ms",
        target=f"{large / rate:.2f} times the rate source's",
    )
    program = [sys.executable, micro_batches.__file__, bench.server, STREAMED, str(directory / "untuned")]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=WAIT_SECONDS_MAX)
    untuned = json.loads(done.stdout.splitlines()[-1])["penstock"]
    yield Line(
        key="micro-untuned", title=title, subject="penstock, Spark's defaults", value=untuned, unit="ms"
    )


def _writing(bench: _Bench) -> Iterator[Line]:
    rows = bench.table().select("key", "value").persist()
    rows.count()

    def write(topic: str, guarantee: str) -> float:
        began = time.perf_counter()
        writer = rows.write.format("penstock").mode("append").options(**bench.options, topic=topic)
        writer.option("deliveryGuarantee", guarantee).save()
        return time.perf_counter() - began

    rates = bench.best_rates(
        {
            "at least once": lambda: write("plain", "at-least-once"),
            "exactly once": lambda: write("exact", "exactly-once"),
        }
    )
    share = rates["exactly once"] / rates["at least once"]
    for name, rate in rates.items():
        is_exact = name == "exactly once"
        yield Line(
            key=f"write-{name}",
            title=f"batch write of {bench.rows:,} rows of {VALUE_BYTES} B",
            subject=name,
            value=rate,
            unit="rows/s",
            target=f"{share:.2f} of the first; at least {EXACT_SHARE_ASKED}" if is_exact else "",
            ratio=share / EXACT_SHARE_ASKED if is_exact else None,
        )
    rows.unpersist()


def _latency(bench: _Bench) -> Iterator[Line]:
    """From a record's acknowledgement to the row that a stream made of it and committed."""
    stream = bench.spark.readStream.format("penstock").options(**bench.options, subscribe="asked")
    writer = stream.load().select("key", "value").writeStream.format("penstock")
    query = (
        writer.options(**bench.options, topic="answered")
        .option("checkpointLocation", str(bench.directory / "latency"))
        .start()
    )
    found = []
    try:
        with (
            penstock.Producer(bootstrap_servers=bench.server) as producer,
            penstock.Consumer(bootstrap_servers=bench.server, isolation_level="read_committed") as consumer,
        ):
            consumer.assign({("answered", number): 0 for number in range(PARTITIONS)})
            time.sleep(5)  # Spark starts its processes; the first two answers do not count either.
            for number in range(LATENCIES + 2):
                producer.send("asked", b"%d" % number).result()
                began = time.perf_counter()
                while consumer.consume_one(1.0) is None:
                    if time.perf_counter() - began > WAIT_SECONDS_MAX or not query.isActive:
                        raise SystemExit(f"no answer: {query.exception()}")
                found.append(time.perf_counter() - began)
    finally:
        query.stop()
    median = statistics.median(found[2:])
    yield Line(
        key="latency",
        title="append to result, through an exactly-once stream",
        subject="penstock, median",
        value=median,
        unit="s",
        target=f"under {LATENCY_SECONDS_ASKED:g}",
        ratio=LATENCY_SECONDS_ASKED / median,
        details={"all": found},
    )


PARTS: dict[str, Callable[[_Bench], Iterator[Line]]] = {
    "read": _reading,
    "windows": _windows,
    "micro-batches": _micro_batches,
    "write": _writing,
    "latency": _latency,
}


if __name__ == "__main__":
    main()
