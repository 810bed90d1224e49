"""Which columns a DataFrame asks for: a schema that names some of them is how to be given less."""

from typing import Any

from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StructType

from penstock.spark.columns.schema import COLUMNS, arrow_type, spark_ddl
from penstock.spark.options.definition import OptionError


def wanted_columns(schema: StructType) -> tuple[str, ...]:
    """The names of the columns of ``schema``; each must be one of ours, with its type."""
    for field in schema.fields:
        if field.name not in COLUMNS:
            raise OptionError(
                f"The schema has a column {field.name!r}. A topic has the columns {', '.join(COLUMNS)}."
            )
        if _arrow_type(field.dataType) != arrow_type(field.name):
            raise OptionError(
                f"The schema has a column {field.name!r} of type {field.dataType.simpleString()}: write "
                f"{spark_ddl([field.name])}, and cast it with DataFrame operations."
            )
    return tuple(schema.fieldNames())


def _arrow_type(data_type: Any) -> Any:
    return to_arrow_type(data_type, timezone="UTC")
