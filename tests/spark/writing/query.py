"""The query of the tests that kill it: one small file for each micro-batch."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def copy_files(
    spark: "SparkSession", bootstrap: str, topic: str, files: str, checkpoint: str
) -> "DataStreamWriter":
    """From Parquet files of the columns key and value to a topic."""
    rows = (
        spark.readStream.schema("key string, value string").option("maxFilesPerTrigger", "1").parquet(files)
    )
    return (
        rows.repartition(2)
        .writeStream.format("penstock")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("topic", topic)
        .option("checkpointLocation", checkpoint)
    )
