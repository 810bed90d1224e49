"""A program of somebody who uses Spark's own Kafka connector: topic to topic and to files, then count.

    python copying.py JARS BOOTSTRAP_SERVERS SOURCE TARGET DIRECTORY

The stream to files goes on where its checkpoint is, so that the program may be killed and started again.
It prints what it counts, one ``name number`` per line.
"""

import sys
from typing import TYPE_CHECKING

from penstock.spark import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS_PER_BATCH = 300
SECONDS_MAX = 100


def main(jars: str, servers: str, source: str, target: str, directory: str) -> None:
    """Everything that the connector is used for."""
    spark = session("connector", "local[2]", short=True, conf={"spark.jars": jars}, archive="existing")
    where = {"kafka.bootstrap.servers": servers}
    print("read", rows(spark, where, source).count(), flush=True)
    archive(spark, where, source, directory)
    print("archived", spark.read.parquet(f"{directory}/files").count())
    offsets = spark.read.parquet(f"{directory}/files").select("partition", "offset").distinct()
    print("distinct", offsets.count())
    rows(spark, where, source).select("key", "value", "headers").write.format("kafka").options(
        **where, topic=target, includeHeaders="true"
    ).save()
    print("written", rows(spark, where, target).count())
    spark.stop()


def rows(spark: "SparkSession", where: dict[str, str], topic: str) -> "DataFrame":
    """A topic as a table, committed records only."""
    reader = spark.read.format("kafka").options(**where, subscribe=topic, includeHeaders="true")
    return reader.option("kafka.isolation.level", "read_committed").load()


def archive(spark: "SparkSession", where: dict[str, str], topic: str, directory: str) -> None:
    """A topic as files, each record in one of them, by the checkpoint."""
    stream = spark.readStream.format("kafka").options(
        **where, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger=RECORDS_PER_BATCH
    )
    query = (
        stream.option("kafka.isolation.level", "read_committed")
        .load()
        .select("partition", "offset", "value")
        .writeStream.format("parquet")
        .option("checkpointLocation", f"{directory}/checkpoint")
        .option("path", f"{directory}/files")
        .trigger(availableNow=True)
        .start()
    )
    print("streaming", query.runId, flush=True)
    if not query.awaitTermination(SECONDS_MAX):
        sys.exit(f"the stream has not ended within {SECONDS_MAX} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
