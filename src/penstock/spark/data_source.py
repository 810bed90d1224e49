"""``format("penstock")``: what Spark makes for every DataFrame that reads or writes topics.

Options are checked as early as Spark lets us: names and values when the schema is asked for, the rest when a
reader or writer is.
"""

from collections.abc import Mapping

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from penstock.spark.columns.schema import SPARK_SCHEMA, SPARK_SCHEMA_WITH_HEADERS
from penstock.spark.options.source_options import batch_options, check_reading, stream_options
from penstock.spark.reading.batch_reader import BatchReader
from penstock.spark.reading.projection import wanted_columns
from penstock.spark.reading.stream_reader import StreamReader


class PenstockDataSource(DataSource):
    """Topics of a Kafka cluster as a table."""

    @classmethod
    def name(cls) -> str:
        """What stands in ``format("...")``."""
        return "penstock"

    def schema(self) -> str:
        """The columns of Spark's Kafka connector."""
        options = check_reading(self._given)
        return SPARK_SCHEMA_WITH_HEADERS if options.include_headers else SPARK_SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        """For ``spark.read``."""
        return BatchReader(batch_options(self._given), wanted_columns(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """For ``spark.readStream``."""
        return StreamReader(stream_options(self._given), wanted_columns(schema))

    @property
    def _given(self) -> Mapping[str, str]:
        return dict(self.options)
