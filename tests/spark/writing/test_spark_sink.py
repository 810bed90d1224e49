"""The sink as Spark's users see it, on a real Spark and a real broker."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.conftest import run_to_end
from tests.spark.writing.query import copy_files
from tests.wire_client.reading import read_topic, read_values

from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

FILE_COUNT, ROWS_PER_FILE = 12, 200

KILLS = int(os.environ.get("PENSTOCK_KILL_ROUNDS", "1"))
"""A Spark has to be started for each."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as one:
        yield one


def values(broker: Broker, topic: str) -> list[bytes]:
    read = read_values(broker.bootstrap_servers, topic)
    return sorted(value for part in read for value in part if value is not None)


def write_files(directory: Path, numbers: range) -> list[bytes]:
    """One Parquet file for each number; returns all values that are in them."""
    directory.mkdir(exist_ok=True)
    written = []
    for number in numbers:
        rows = [f"{number:04}-{index:04}" for index in range(ROWS_PER_FILE)]
        table = pa.table({"key": pa.array([f"k{row[-2:]}" for row in rows]), "value": pa.array(rows)})
        pq.write_table(table, directory / f"part-{number:04}.parquet")
        written += [row.encode() for row in rows]
    return sorted(written)


def write(frame: "DataFrame", broker: Broker, **options: str) -> None:
    writer = frame.write.format("penstock").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    writer.options(**options).mode("append").save()


def test_a_batch_is_written_with_all_its_columns(spark: "SparkSession", broker: Broker) -> None:
    topic = broker.create_topic(partitions=3)
    frame = spark.sql(
        "SELECT CAST('k' AS BINARY) key, 'v' value, 2 partition, TIMESTAMP_MILLIS(1700000000123) timestamp, "
        f"'{topic}' topic, array(named_struct('key', 'h', 'value', CAST('x' AS BINARY))) headers"
    )

    write(frame, broker, compression="zstd")
    _, _, (message,) = read_topic(broker.bootstrap_servers, topic)
    assert (message.key(), message.value(), message.headers()) == (b"k", b"v", [("h", b"x")])
    assert message.timestamp() == (1, 1_700_000_000_123)


@pytest.mark.parametrize("guarantee", ["exactly-once", "at-least-once"])
def test_a_batch_of_several_tasks_is_written_whole(
    spark: "SparkSession", broker: Broker, guarantee: str
) -> None:
    topic = broker.create_topic(partitions=3)
    frame = spark.range(0, 3_000, 1, 3).selectExpr("CAST(id % 7 AS STRING) key", "CAST(id AS STRING) value")

    write(frame, broker, topic=topic, deliveryGuarantee=guarantee)
    assert values(broker, topic) == sorted(b"%d" % number for number in range(3_000))


def test_what_cannot_be_written_is_refused_before_any_task_runs(
    spark: "SparkSession", broker: Broker
) -> None:
    with pytest.raises(Exception, match=r"Column 'id' \(bigint\) is none that a record has"):
        write(spark.range(3), broker, topic="orders")
    with pytest.raises(Exception, match="give the option topic, or rows a column topic"):
        write(spark.sql("SELECT 'v' value"), broker)


def test_a_write_that_is_repeated_under_the_same_version_is_made_once(
    spark: "SparkSession", broker: Broker
) -> None:
    topic = broker.create_topic()
    frame = spark.range(0, 10, 1, 2).selectExpr("CAST(id AS STRING) value")
    for version in ("0", "1", "1", "0"):
        write(frame, broker, topic=topic, txnAppId="test", txnVersion=version)

    assert values(broker, topic) == sorted(b"%d" % number for number in range(10) for _ in range(2))


@pytest.mark.parametrize("guarantee", ["exactly-once", "at-least-once"])
def test_a_stream_goes_on_where_it_was(
    spark: "SparkSession", broker: Broker, tmp_path: Path, checkpoint: str, guarantee: str
) -> None:
    topic = broker.create_topic(partitions=2)
    files = tmp_path / "files"
    expected = write_files(files, range(2))

    def run() -> None:
        query = copy_files(spark, broker.bootstrap_servers, topic, str(files), checkpoint)
        run_to_end(query.option("deliveryGuarantee", guarantee))

    run()
    assert values(broker, topic) == expected
    expected += write_files(files, range(2, 3))
    run()
    assert values(broker, topic) == expected


@pytest.mark.timeout(240 + 120 * KILLS)
def test_a_stream_whose_driver_is_killed_writes_every_row_once(
    spark: "SparkSession", broker: Broker, tmp_path: Path, checkpoint: str
) -> None:
    topic = broker.create_topic(partitions=2)
    expected = write_files(tmp_path / "files", range(FILE_COUNT))
    rng = random.Random()
    for kill in range(KILLS):
        run_and_kill(
            [broker.bootstrap_servers, topic, str(tmp_path / "files"), checkpoint],
            log=tmp_path / f"log-{kill}",
            seconds=rng.uniform(0.0, 1.0),
        )

    rest = copy_files(spark, broker.bootstrap_servers, topic, str(tmp_path / "files"), checkpoint)
    run_to_end(rest, timeout_seconds=180)
    assert values(broker, topic) == expected


def run_and_kill(arguments: list[str], *, log: Path, seconds: float) -> None:
    """Start the query, and end its processes ``seconds`` after its first batch, as if the power failed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.writing.query_program", *arguments],
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 90
        while "batch " not in log.read_text():
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            time.sleep(0.02)
        time.sleep(seconds)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
