"""The work that a Spark is given so that its classes are known: some of all that pipelines do.

A program, run by ``archive_making.py``. What it computes is of no interest; that it ends well is.
"""

import os
import tempfile
from typing import TYPE_CHECKING

from penstock.spark.sessions.archive_making import OPTIONS_VARIABLE
from penstock.spark.sessions.running import shutdown
from penstock.spark.sessions.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_END_SECONDS_MAX = 300.0
"""Java writes the archive when it ends."""

_QUERY_SECONDS_MAX = 120


def main() -> None:
    """Work, then let Java end."""
    conf = {"spark.driver.defaultJavaOptions": f"-XX:TieredStopAtLevel=1 {os.environ[OPTIONS_VARIABLE]}"}
    spark = session("penstock-training", "local[2]", archive="off", conf=conf)
    with tempfile.TemporaryDirectory() as directory:
        compute(spark)
        stream(spark, directory)
    shutdown(timeout_seconds=_END_SECONDS_MAX)


def compute(spark: "SparkSession") -> None:
    """Columns, JSON, aggregation, a join, files."""
    rows = spark.range(1000).selectExpr(
        "id", "id % 7 AS k", """'{"id":' || id || ',"name":"n","at":"2026-01-01T00:00:00Z"}' AS value"""
    )
    schema = spark.read.json(rows.select("value")).schema
    rows.createOrReplaceTempView("rows")
    parsed = f"SELECT k, from_json(value, '{schema.simpleString()}') AS v FROM rows"
    spark.sql(f"SELECT k, count(*), sum(v.id) FROM ({parsed}) GROUP BY k ORDER BY k").collect()
    rows.join(rows.groupBy("k").count(), "k").write.format("noop").mode("append").save()


def stream(spark: "SparkSession", directory: str) -> None:
    """Windows over a stream, with state and a checkpoint."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100).load()
    source.withWatermark("timestamp", "1 minute").createOrReplaceTempView("stream")
    counts = spark.sql("SELECT window(timestamp, '1 minute') AS w, count(*) AS n FROM stream GROUP BY 1")
    writer = counts.writeStream.format("noop").outputMode("update").trigger(availableNow=True)
    query = writer.option("checkpointLocation", directory).start()
    query.awaitTermination(_QUERY_SECONDS_MAX)
    query.stop()


if __name__ == "__main__":
    main()
