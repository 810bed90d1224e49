"""How long a micro-batch of Spark takes that does next to nothing: our source beside Spark's own generator.

Run as a program it measures a session as Spark makes it by itself, since the settings of one session cannot
be had in another: ``python micro_batches.py BOOTSTRAP_SERVERS TOPIC DIRECTORY`` prints JSON.
"""

import json
import os
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from still_source import StillSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 1_000
BATCHES = 60
WARM_UP = 20
SECONDS_MAX = 120


def of_penstock(spark: "SparkSession", server: str, topic: str, directory: Path) -> float:
    """The median, in milliseconds, of micro-batches of so many rows of a topic."""
    options = {"kafka.bootstrap.servers": server, "subscribe": topic, "startingOffsets": "earliest"}
    reader = spark.readStream.format("penstock").options(**options, maxOffsetsPerTrigger=str(ROWS))
    return _median(reader.load(), directory / "penstock")


def of_rate(spark: "SparkSession", directory: Path) -> float:
    """The same of Spark's own generator of rows, which runs inside of Java."""
    reader = spark.readStream.format("rate-micro-batch").options(
        rowsPerBatch=str(ROWS), numPartitions="2", startTimestamp="0", advanceMillisPerBatch="1000"
    )
    return _median(reader.load(), directory / "rate")


def of_still(spark: "SparkSession", directory: Path) -> float:
    """The same of a source in Python that asks nobody."""
    spark.dataSource.register(StillSource)
    reader = spark.readStream.format("still").option("rowsPerBatch", str(ROWS))
    return _median(reader.load(), directory / "still")


def _median(rows: "DataFrame", checkpoint: Path) -> float:
    query = rows.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    found: dict[int, float] = {}
    try:
        while len(found) < BATCHES + WARM_UP:
            if query.awaitTermination(1):
                raise SystemExit(f"the stream has ended: {query.exception()}")
            found |= {
                progress.batchId: progress.durationMs["triggerExecution"]
                for progress in query.recentProgress
                if progress.numInputRows == ROWS
            }
    finally:
        query.stop()
    return statistics.median(milliseconds for batch, milliseconds in found.items() if batch >= WARM_UP)


def main(server: str, topic: str, directory: str) -> None:
    """Measure a session of Spark's own making, and print what was found."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps({"penstock": of_penstock(spark, server, topic, Path(directory))}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
