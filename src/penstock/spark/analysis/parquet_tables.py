"""The aggregates as Parquet, for questions that no report answers: one directory for each table."""

from typing import TYPE_CHECKING

from penstock.model.errors import UsageError
from penstock.spark.analysis import tables
from penstock.spark.analysis.counting import Counted, widths_ms
from penstock.spark.archive.stores.opening import open_store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("partitions", "sizes", "codecs", "timeline", "heat_map", "kinds", "types", "keys")


def check_free(spark: "SparkSession", directory: str) -> None:
    """Raise before anything is read if there is something in the directory already."""
    store = open_store(directory, spark)
    if store.names("") or store.directories(""):
        raise UsageError(f"There is something in {directory} already: name another directory.")


def write_tables(facts: "DataFrame", keys: "DataFrame", counted: Counted, directory: str) -> None:
    """Write every table into a directory that ``check_free`` has looked at."""
    small = {
        "partitions": tables.partitions_table(facts),
        "sizes": tables.sizes_table(facts),
        "codecs": tables.codecs_table(facts),
        "timeline": tables.timeline_table(facts, widths_ms(counted.partitions)),
        "heat_map": tables.heat_map_table(facts, counted.weekly),
        "kinds": tables.kinds_table(facts),
        "types": tables.types_table(facts),
    }
    for name, table in small.items():
        table.coalesce(1).write.mode("errorifexists").parquet(f"{directory.rstrip('/')}/{name}")
    keys.write.mode("errorifexists").parquet(f"{directory.rstrip('/')}/keys")
