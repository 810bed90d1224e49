"""``format("penstock")``: what Spark makes for every DataFrame that reads or writes topics.

Options are checked as early as Spark lets us: names and values when the schema is asked for, the rest when a
reader or writer is. Readers and writers are imported when they are asked for, since every question of Spark
is answered by a new process.
"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from penstock.spark.columns.schema import SPARK_SCHEMA, SPARK_SCHEMA_WITH_HEADERS

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSourceArrowWriter,
        DataSourceReader,
        DataSourceStreamArrowWriter,
        DataSourceStreamReader,
    )
    from pyspark.sql.types import StructType

_PUSHDOWN_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"
"""The program that offers filters, loaded only where ``spark.sql.python.filterPushdown.enabled`` is set. A
reader that takes filters is refused everywhere else."""


class PenstockDataSource(DataSource):
    """Topics of a Kafka cluster as a table."""

    @classmethod
    def name(cls) -> str:
        """What stands in ``format("...")``."""
        return "penstock"

    def schema(self) -> str:
        """The columns of Spark's Kafka connector."""
        from penstock.spark.options.source_options import check_reading

        options = check_reading(self._given)
        return SPARK_SCHEMA_WITH_HEADERS if options.include_headers else SPARK_SCHEMA

    def reader(self, schema: "StructType") -> "DataSourceReader":
        """For ``spark.read``."""
        from penstock.spark.options.source_options import batch_options
        from penstock.spark.reading.batch_reader import BatchReader, FilteringBatchReader
        from penstock.spark.reading.projection import wanted_columns

        reader = FilteringBatchReader if _PUSHDOWN_WORKER in sys.modules else BatchReader
        return reader(batch_options(self._given), wanted_columns(schema))

    def streamReader(self, schema: "StructType") -> "DataSourceStreamReader":
        """For ``spark.readStream``."""
        from penstock.spark.options.source_options import stream_options
        from penstock.spark.reading.projection import wanted_columns
        from penstock.spark.reading.stream_reader import StreamReader

        return StreamReader(stream_options(self._given), wanted_columns(schema))

    def writer(self, schema: "StructType", overwrite: bool) -> "DataSourceArrowWriter":
        """For ``df.write``."""
        from penstock.spark.writing import batch_writer

        return batch_writer(self._given, schema, overwrite)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "DataSourceStreamArrowWriter":
        """For ``df.writeStream``."""
        from penstock.spark.writing import stream_writer

        return stream_writer(self._given, schema, overwrite)

    @property
    def _given(self) -> Mapping[str, str]:
        return dict(self.options)
