"""Rows become records: a key, a value, headers, and the topic they go to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.spark.pipelines.model import Sink

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_HEADERS = "array<struct<key: string, value: binary>>"


def records(rows: "DataFrame", sink: Sink) -> "DataFrame":
    """The columns that the sink writes, in its order; rows that are records already pass through."""
    from pyspark.sql import functions as F

    names = rows.columns
    columns = {"value": _value(rows, sink)}
    if sink.key:
        columns["key"] = _text_or_bytes(rows, sink.key)
    elif "key" in names:
        columns["key"] = _text_or_bytes(rows, "`key`")
    if sink.headers:
        columns["headers"] = _headers(sink)
    elif "headers" in names:
        columns["headers"] = F.col("headers").cast(_HEADERS)
    if is_routed(rows, sink):
        columns["topic"] = F.col("topic").cast("string")
    if sink.partition:
        columns["partition"] = F.expr(sink.partition).cast("int")
    if sink.timestamp:
        columns["timestamp"] = F.expr(sink.timestamp).cast("timestamp")
    elif _passes_through(rows, sink) and "timestamp" in names:
        columns["timestamp"] = F.col("timestamp")
    return rows.select(*(column.alias(name) for name, column in columns.items()))


def is_routed(rows: "DataFrame", sink: Sink) -> bool:
    """Whether rows themselves say which topic they go to."""
    return "topic" in rows.columns and "topic" not in sink.options


def _passes_through(rows: "DataFrame", sink: Sink) -> bool:
    return sink.value is None and "value" in rows.columns


def _value(rows: "DataFrame", sink: Sink) -> "Column":
    from pyspark.sql import functions as F

    if _passes_through(rows, sink):
        return _text_or_bytes(rows, "`value`")
    settings = sink.value or {"format": "json", "columns": (), "options": {}}
    columns = list(settings["columns"]) or _value_columns(rows, sink)
    if settings["format"] == "text":
        return F.concat_ws(" ", *(F.col(f"`{name}`").cast("string") for name in columns))
    struct = F.struct(*(F.col(f"`{name}`") for name in columns))
    if settings["format"] == "registry":
        return _registered(struct, settings["options"], sink)
    if settings["format"] == "csv":
        return F.to_csv(struct, dict(settings["options"]))
    return F.to_json(struct, {"ignoreNullFields": "false", **settings["options"]})


def _registered(struct: "Column", options: Mapping[str, str], sink: Sink) -> "Column":
    """Bytes by a registry's schema; the subject is that of the sink's topic unless another is named."""
    from penstock.spark.registry.encoded_column import to_registry

    named: dict[str, Any] = {name: text for name, text in options.items() if name != "auto_register"}
    if "subject" not in named and "topic" in sink.options:
        named["topic"] = sink.options["topic"]
    return to_registry(struct, auto_register=options.get("auto_register") == "true", **named)


def _value_columns(rows: "DataFrame", sink: Sink) -> list[str]:
    taken = {"headers"}
    taken |= set() if sink.key else {"key"}
    taken |= {"topic"} if is_routed(rows, sink) else set()
    return [name for name in rows.columns if name not in taken]


def _headers(sink: Sink) -> "Column":
    from pyspark.sql import functions as F

    made = [
        F.struct(F.lit(name).alias("key"), F.encode(F.expr(sql).cast("string"), "UTF-8").alias("value"))
        for name, sql in sink.headers.items()
    ]
    return F.array(*made).cast(_HEADERS)


def _text_or_bytes(rows: "DataFrame", sql: str) -> "Column":
    """Binary stays as it is, everything else becomes text."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType

    (field,) = rows.selectExpr(sql).schema.fields
    expression = F.expr(sql)
    return expression if isinstance(field.dataType, BinaryType) else expression.cast("string")
