"""The aggregates as Parquet, for questions that no report answers: one directory for each table."""

from typing import TYPE_CHECKING

from penstock.model.errors import UsageError
from penstock.spark.analysis import tables
from penstock.spark.analysis.counting import Counted, widths_ms
from penstock.spark.archive.stores.opening import open_store
from penstock.spark.archive.stores.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("partitions", "sizes", "codecs", "timeline", "heat_map", "kinds", "types", "keys")


def check_free(spark: "SparkSession", directory: str) -> None:
    """Raise before anything is read if there is something in the directory already."""
    store = open_store(directory, spark)
    if store.names("") or store.directories(""):
        raise UsageError(f"There is something in {directory} already: name another directory.")


def check_replaceable(spark: "SparkSession", directory: str) -> None:
    """Raise before anything is read if something in the directory is no table of an analysis."""
    store = open_store(directory, spark)
    others = [name for name in store.directories("") if name not in TABLES or not _is_table(store, name)]
    for name in (*store.names(""), *others):
        raise UsageError(
            f"There is {name!r} in {directory}, which no analysis has written: name another directory."
        )


def _is_table(store: Store, name: str) -> bool:
    """Whether there is nothing in a directory but what Spark writes, or has begun to."""
    inside = (*store.names(name), *store.directories(name))
    return all(each.startswith(("part-", "_")) for each in inside)


def write_tables(facts: "DataFrame", keys: "DataFrame", counted: Counted, directory: str) -> None:
    """Write every table into a directory that was checked; those that are there are replaced."""
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
        table.coalesce(1).write.mode("overwrite").parquet(f"{directory.rstrip('/')}/{name}")
    keys.write.mode("overwrite").parquet(f"{directory.rstrip('/')}/keys")
