"""Rows to Arrow columns: those that are wanted, and no others."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.spark.columns.cursors import Slices
from penstock.spark.columns.errors import MalformedRowError, Origin
from penstock.spark.columns.gathering import gather
from penstock.spark.columns.header_column import read_headers
from penstock.spark.columns.rows import Rows
from penstock.spark.columns.schema import HEADERS, arrow_type

_CONTENT = ("key", "value", HEADERS)
"""The columns whose bytes stand in the records, in their order there."""

_MICROS_PER_MILLI = 1000
_MILLIS_MAX = (2**63 - 1) // _MICROS_PER_MILLI


def build_columns(rows: Rows, *, origin: Origin, wanted: Sequence[str]) -> list[Any]:
    """The ``wanted`` columns of ``rows``."""
    makers: dict[str, Callable[[], Any]] = {
        "topic": lambda: pa.repeat(pa.scalar(origin.topic, pa.string()), len(rows)),
        "partition": lambda: pa.array(np.full(len(rows), origin.partition, np.int32)),
        "offset": lambda: pa.array(rows.offsets),
        "timestamp": lambda: _timestamps(rows),
        "timestampType": lambda: pa.array(rows.timestamp_types),
    }
    try:
        content = _read_content(rows, wanted)
    except MalformedRowError as error:
        raise MalformedRowError(rows.first_row + error.row, error.message) from error
    return [content[name] if name in content else makers[name]() for name in wanted]


def _read_content(rows: Rows, wanted: Sequence[str]) -> dict[str, Any]:
    """Keys, values and headers; reading stops behind the last that is wanted."""
    if not len(rows):
        return {name: pa.array([], arrow_type(name)) for name in _CONTENT if name in wanted}
    found: dict[str, Any] = {}
    rows.cursors.check_within()
    slices: dict[str, Slices] = {}
    for name in _CONTENT[: _needed(wanted)]:
        if name == HEADERS:
            found[name] = read_headers(rows.cursors, rows.whole)
        else:
            slices[name] = rows.cursors.slices()
    return found | {name: gather(rows.whole, slices[name]) for name in slices if name in wanted}


def _needed(wanted: Sequence[str]) -> int:
    """How many of the fields in a record have to be read."""
    return max((index for index, name in enumerate(_CONTENT, 1) if name in wanted), default=0)


def _timestamps(rows: Rows) -> Any:
    millis = rows.timestamps_ms
    mask = None
    if len(millis) and (millis.max() > _MILLIS_MAX or millis.min() < -_MILLIS_MAX):
        mask = (millis > _MILLIS_MAX) | (millis < -_MILLIS_MAX)
        millis = np.where(mask, 0, millis)
    micros = pa.array(millis * _MICROS_PER_MILLI, mask=mask)
    return micros.view(arrow_type("timestamp"))
