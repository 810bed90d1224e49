"""The table that stored batches are: the columns of a topic, and what is known of each record's batch.

Of everything that is said of a whole batch, each of its records says the same. To count batches and not
records, look only at rows whose ``batchIndex`` is 0.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.spark.columns.schema import COLUMNS as TOPIC_COLUMNS
from penstock.spark.columns.schema import HEADERS, arrow_type, spark_ddl
from penstock.spark.options.definition import OptionError

_TYPES: dict[str, tuple[str, Any]] = {
    #: What the record takes in its batch before compression, with the few bytes around its fields.
    "recordBytes": ("INT", pa.int32()),
    #: Where the batch begins.
    "batchOffset": ("BIGINT", pa.int64()),
    #: The record's place in its batch, from 0.
    "batchIndex": ("INT", pa.int32()),
    "batchRecords": ("INT", pa.int32()),
    #: As stored, with its header.
    "batchBytes": ("INT", pa.int32()),
    #: Of all its records before compression.
    "batchPayloadBytes": ("INT", pa.int32()),
    "compression": ("STRING", pa.string()),
    "isTransactional": ("BOOLEAN", pa.bool_()),
    #: A marker of the protocol, such as the end of a transaction; only with ``includeControlRecords``.
    "isControl": ("BOOLEAN", pa.bool_()),
    "producerId": ("BIGINT", pa.int64()),
    "leaderEpoch": ("INT", pa.int32()),
    #: The file; null where a broker sent the batch.
    "segment": ("STRING", pa.string()),
}

BATCH_COLUMNS = tuple(_TYPES)
COLUMNS = (*TOPIC_COLUMNS, *BATCH_COLUMNS)


def segments_ddl(names: Sequence[str]) -> str:
    """The columns ``names`` as Spark's DDL."""
    return ", ".join(f"{name} {_TYPES[name][0]}" if name in _TYPES else spark_ddl([name]) for name in names)


def default_columns(*, include_headers: bool) -> tuple[str, ...]:
    """Those of a DataFrame that names none."""
    return tuple(name for name in COLUMNS if include_headers or name != HEADERS)


def segments_arrow_type(name: str) -> Any:
    """The Arrow type of a column."""
    return _TYPES[name][1] if name in _TYPES else arrow_type(name)


def segments_arrow_schema(names: Sequence[str]) -> Any:
    """The Arrow schema of the columns ``names``."""
    return pa.schema([pa.field(name, segments_arrow_type(name)) for name in names])


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """``names``, each of which must be a column of ours."""
    for name in names:
        if name not in COLUMNS:
            raise OptionError(
                f"The schema has a column {name!r}. Stored batches have the columns {', '.join(COLUMNS)}."
            )
    return tuple(names)
