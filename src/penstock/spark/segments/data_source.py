"""``format("penstock-segments")``: what Spark makes for every DataFrame that reads stored batches.

Readers are imported when they are asked for, since every question of Spark is answered by a new process.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from penstock.spark.options.definition import OptionError
from penstock.spark.segments.options import FileOptions, segments_options
from penstock.spark.segments.schema import (
    check_names,
    default_columns,
    segments_arrow_type,
    segments_ddl,
)

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader
    from pyspark.sql.types import StructType


class SegmentsDataSource(DataSource):
    """Stored record batches as a table."""

    @classmethod
    def name(cls) -> str:
        """What stands in ``format("...")``."""
        return "penstock-segments"

    def schema(self) -> str:
        """The columns of a topic, and those of its batches."""
        options = segments_options(dict(self.options))
        return segments_ddl(default_columns(include_headers=options.include_headers))

    def reader(self, schema: "StructType") -> "DataSourceReader":
        """For ``spark.read``; a schema that names some of the columns is how to be given less."""
        from penstock.spark.segments.readers import BrokersReader, FilesReader

        columns = check_columns(schema)
        options = segments_options(dict(self.options))
        if isinstance(options, FileOptions):
            return FilesReader(options, columns)
        return BrokersReader(options, columns)


def check_columns(schema: "StructType") -> tuple[str, ...]:
    """The names of the columns of ``schema``; each must be one of ours, with its type."""
    from pyspark.sql.pandas.types import to_arrow_type

    for field, name in zip(schema.fields, check_names(schema.fieldNames()), strict=True):
        if to_arrow_type(field.dataType, timezone="UTC") != segments_arrow_type(name):
            raise OptionError(
                f"The schema has a column {name!r} of type {field.dataType.simpleString()}: write "
                f"{segments_ddl([name])}, and cast it with DataFrame operations."
            )
    return tuple(schema.fieldNames())
