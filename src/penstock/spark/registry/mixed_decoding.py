"""Records into a column: all at once where that works, one by one where it does not.

Reading by columns is many times as fast. Schemas that it has no plan for, and records that are rare enough
to be left out of it, are read one by one by the format's own library. Records that it marks as bad have no
value; the library then says why.
"""

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.spark.registry.column_lists import NotInColumnsError
from penstock.spark.registry.cursor import Cursor, cursor_at
from penstock.spark.registry.payloads import Decoded, Payloads

NOT_OF_ITS_SCHEMA = "not a record of its schema: an index, a boolean or a number is out of range"


class ByColumns(Protocol):
    """Takes a value from every record of a cursor."""

    def read(self, cursor: Cursor) -> Any:
        """An Arrow array of one value for each record."""


class ByRows(Protocol):
    """Takes records one by one."""

    def decode(self, payloads: Payloads) -> Decoded:
        """Every record's value, or the reason why it has none."""


class MixedDecoder:
    """Reads by columns if there is a plan for it."""

    def __init__(self, by_columns: ByColumns | None, by_rows: ByRows) -> None:
        self._by_columns = by_columns
        self._by_rows = by_rows

    def decode(self, payloads: Payloads) -> Decoded:
        """Every record's value, or the reason why it has none."""
        if self._by_columns is None or np.any(np.diff(payloads.starts) < 0):
            return self._by_rows.decode(payloads)
        cursor = cursor_at(payloads)
        try:
            values = self._by_columns.read(cursor)
        except (NotInColumnsError, pa.ArrowException):  # Too long a list; text that is not UTF-8.
            return self._by_rows.decode(payloads)
        cursor.mark_bad(cursor.positions != cursor.ends)
        if not cursor.is_bad.any():
            return Decoded(values=values)
        rows = np.flatnonzero(cursor.is_bad)
        reasons = self._reasons(payloads.part(rows))
        return Decoded(
            values=pc.if_else(pa.array(~cursor.is_bad), values, pa.nulls(1, values.type)[0]),
            reasons=dict(zip(rows.tolist(), reasons, strict=True)),
        )

    def _reasons(self, bad: Payloads) -> list[str]:
        """Why they cannot be read. Libraries are laxer: one takes an index of -1 for the last of a list."""
        found = self._by_rows.decode(bad).reasons
        return [found.get(row, NOT_OF_ITS_SCHEMA) for row in range(len(bad))]
