"""The table that a topic is: columns, order and types of Spark's Kafka connector.

Spark takes Arrow batches only if their types are exactly those of its own schema. So they are written down
once here, as Arrow types and as Spark's DDL, and a test holds them against each other.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.model.errors import UsageError

HEADERS = "headers"
"""The column that is there only when ``includeHeaders`` is."""

_HEADER = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])

_TYPES: dict[str, tuple[str, Any]] = {
    "key": ("BINARY", pa.binary()),
    "value": ("BINARY", pa.binary()),
    "topic": ("STRING", pa.string()),
    "partition": ("INT", pa.int32()),
    "offset": ("BIGINT", pa.int64()),
    "timestamp": ("TIMESTAMP", pa.timestamp("us", tz="UTC")),
    "timestampType": ("INT", pa.int32()),
    HEADERS: ("ARRAY<STRUCT<key: STRING, value: BINARY>>", pa.list_(pa.field("element", _HEADER))),
}

COLUMNS = tuple(_TYPES)
"""All columns, in order."""

COLUMNS_WITHOUT_HEADERS = tuple(name for name in COLUMNS if name != HEADERS)


def spark_ddl(names: Sequence[str]) -> str:
    """The columns ``names`` as Spark's DDL."""
    return ", ".join(f"{name} {_types(name)[0]}" for name in names)


def arrow_type(name: str) -> Any:
    """The Arrow type of a column."""
    return _types(name)[1]


def arrow_schema(names: Sequence[str]) -> Any:
    """The Arrow schema of the columns ``names``; every one may hold nulls, as in Spark's schema."""
    return pa.schema([pa.field(name, arrow_type(name)) for name in names])


def _types(name: str) -> tuple[str, Any]:
    try:
        return _TYPES[name]
    except KeyError:
        raise UsageError(f"A topic has no column {name!r}, it has {', '.join(COLUMNS)}.") from None


SPARK_SCHEMA = spark_ddl(COLUMNS_WITHOUT_HEADERS)
SPARK_SCHEMA_WITH_HEADERS = spark_ddl(COLUMNS)
