"""Avro records into an Arrow column: all at once where that works, one by one where it does not.

Reading by columns is many times as fast. Schemas that it has no plan for are read one by one with fastavro.
Records that it marks as bad have no value; fastavro then says why.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.spark.registry.avro.column_readers import ColumnReader, NotInColumnsError
from penstock.spark.registry.avro.cursor import cursor_at
from penstock.spark.registry.avro.planning import plan
from penstock.spark.registry.avro.row_decoding import RowDecoder
from penstock.spark.registry.avro.schema import AvroType
from penstock.spark.registry.payloads import Decoded, Payloads

NOT_OF_ITS_SCHEMA = "not a record of its schema: an index, a boolean or a number is out of range"


class AvroDecoder:
    """Reads what one schema wrote as what another says."""

    def __init__(self, writer: AvroType, reader: AvroType) -> None:
        self._by_rows = RowDecoder(writer, reader)
        self._by_columns: ColumnReader | None
        try:
            self._by_columns = plan(writer, reader)
        except NotInColumnsError:
            self._by_columns = None

    def decode(self, payloads: Payloads) -> Decoded:
        """Every record's value, or the reason why it has none."""
        if self._by_columns is None or np.any(np.diff(payloads.starts) < 0):
            return self._by_rows.decode(payloads)
        cursor = cursor_at(payloads)
        try:
            values = self._by_columns.read(cursor)
        except (NotInColumnsError, pa.ArrowException):  # Too long an array; text that is not UTF-8.
            return self._by_rows.decode(payloads)
        cursor.mark_bad(cursor.positions != cursor.ends)
        if not cursor.is_bad.any():
            return Decoded(values=values)
        rows = np.flatnonzero(cursor.is_bad)
        reasons = self._reasons(payloads.part(rows))
        is_good = pa.array(~cursor.is_bad)
        return Decoded(
            values=pc.if_else(is_good, values, pa.nulls(1, values.type)[0]),
            reasons=dict(zip(rows.tolist(), reasons, strict=True)),
        )

    def _reasons(self, bad: Payloads) -> list[str]:
        """Why they cannot be read. fastavro is laxer, and takes an index of -1 for the last of a list."""
        found = self._by_rows.decode(bad).reasons
        return [found.get(row, NOT_OF_ITS_SCHEMA) for row in range(len(bad))]
