"""``penstock.spark.topic``: a topic as a table with the columns that its JSON has, for looking around.

The columns are inferred from a sample: the newest records of the topic. A record that does not fit (no JSON
object, a field that no sampled record had, or one of another type) keeps its whole value in the column
``value``; where the columns hold everything, ``value`` is null. Within nested objects, fields that no sampled
record had are not noticed: take a larger sample, or parse the values with a schema of your own.
"""

import os
from collections.abc import Iterable, Mapping

from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql.types import StringType, StructField, StructType

from penstock.client.config.client_config import BOOTSTRAP_VARIABLE, DEFAULT_BOOTSTRAP_SERVERS
from penstock.model.errors import UsageError
from penstock.spark.sessions.setting import as_texts

SAMPLE_COUNT = 1000

_SCHEMA = "key binary, value binary, partition int, offset bigint, timestamp timestamp"
_HEADERS = "headers array<struct<key: string, value: binary>>"
_BOUNDARIES = ("starting", "ending")
_PARSED = "penstock_parsed"
_UNFIT = "penstock_unfit"


def topic(
    spark: SparkSession,
    name: str,
    *,
    bootstrap_servers: str | None = None,
    sample: int = SAMPLE_COUNT,
    **options: object,
) -> DataFrame:
    """The records of a topic, as they are now: ``key``, a column for each field, ``value``, and whence.

    ``options`` are those of ``format("penstock")``, for example ``startingOffsets="-1000"``. The broker is
    the one of ``bootstrap_servers``, of ``PENSTOCK_BOOTSTRAP_SERVER``, or ``127.0.0.1:9092``. ``sample`` is
    how many records are looked at for columns: the newest of each partition, or the first of those that the
    options choose.

    ``key`` and ``value`` are texts unless a sampled one is not UTF-8; then they stay binary. Where a field is
    called ``key``, ``value``, ``partition``, ``offset`` or ``timestamp``, the column that is not of the JSON
    gets an underscore: ``_timestamp``.
    """
    if sample < 1:
        raise UsageError(f"sample is {sample}, but must be 1 or more: columns are inferred from records.")
    given = {"kafka.bootstrap.servers": _bootstrap_servers(bootstrap_servers), **as_texts(options)}
    records = _read(spark, name, given)
    looked_at = _sample(spark, name, given, records=records, count=sample)
    return _as_table(spark, records, looked_at)


def _bootstrap_servers(asked: str | None) -> str:
    return asked or os.environ.get(BOOTSTRAP_VARIABLE) or DEFAULT_BOOTSTRAP_SERVERS


def _read(spark: SparkSession, name: str, options: Mapping[str, str]) -> DataFrame:
    has_headers = options.get("includeHeaders", "").lower() == "true"
    schema = f"{_SCHEMA}, {_HEADERS}" if has_headers else _SCHEMA
    reader = spark.read.format("penstock").schema(schema).option("subscribe", name)
    return reader.options(**options).load()


def _sample(
    spark: SparkSession, name: str, options: Mapping[str, str], *, records: DataFrame, count: int
) -> DataFrame:
    if any(option.startswith(_BOUNDARIES) for option in options):
        return records.limit(count)
    return _read(spark, name, {**options, "startingOffsets": f"-{count} records"})


def _as_table(spark: SparkSession, records: DataFrame, looked_at: DataFrame) -> DataFrame:
    seen = looked_at.select("key", "value").cache()
    try:
        texts = _texts(seen, ("key", "value"))
        objects = seen.select(functions.col("value").cast("string")).where(_is_object("value"))
        fields = spark.read.json(objects, mode="DROPMALFORMED").schema
    finally:
        seen.unpersist()
    for column in texts:
        records = records.withColumn(column, functions.col(column).cast("string"))
    return _with_fields(records, fields)


def _texts(seen: DataFrame, columns: Iterable[str]) -> list[str]:
    """Those that hold nothing but UTF-8."""
    valid = {
        name: functions.coalesce(functions.bool_and(functions.is_valid_utf8(name)), functions.lit(True))
        for name in columns
    }
    row = seen.select([check.alias(name) for name, check in valid.items()]).collect()[0]
    return [name for name in columns if row[name]]


def _is_object(column: str) -> Column:
    return functions.ltrim(functions.col(column).cast("string")).startswith("{")


def _with_fields(records: DataFrame, fields: StructType) -> DataFrame:
    unfit = StructField(_UNFIT, StringType())
    named = StructType([StructField(name, field.dataType) for name, field in _column_names(fields).items()])
    parse = functions.from_json(
        functions.col("value").cast("string"),
        StructType([*fields.fields, unfit]),
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _UNFIT},
    ).cast(StructType([*named.fields, unfit]))
    parsed = records.withColumn(_PARSED, functions.when(_is_object("value"), parse))
    is_fit = (
        functions.col(_PARSED).isNotNull()
        & functions.col(f"{_PARSED}.{_UNFIT}").isNull()
        & ~_has_others("value", fields)
    )
    columns = {name: functions.col(name) for name in records.columns}
    columns["value"] = functions.when(~is_fit, functions.col("value"))
    key = [columns.pop("key").alias(_free_name("key", named))]
    own = [column.alias(_free_name(name, named)) for name, column in columns.items()]
    of_json = [functions.col(_PARSED).getField(field.name).alias(field.name) for field in named]
    return parsed.select(*key, *of_json, *own)


def _has_others(column: str, fields: StructType) -> Column:
    """Whether a JSON object has fields beside these; computed only where somebody asks for ``value``."""
    known = functions.array(*map(functions.lit, fields.names)).cast("array<string>")
    names = functions.json_object_keys(functions.col(column).cast("string"))
    return functions.size(functions.array_except(names, known)) > 0


def _column_names(fields: StructType) -> dict[str, StructField]:
    """Spark does not tell ``ID`` from ``id``: the second is called ``id_2``."""
    found: dict[str, StructField] = {}
    taken: set[str] = set()
    for field in fields:
        name, number = field.name, 1
        while name.lower() in taken:
            number += 1
            name = f"{field.name}_{number}"
        taken.add(name.lower())
        found[name] = field
    return found


def _free_name(name: str, fields: StructType) -> str:
    taken = {field.name.lower() for field in fields}
    while name in taken:
        name = f"_{name}"
    return name
