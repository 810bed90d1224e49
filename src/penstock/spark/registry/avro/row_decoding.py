"""Avro records into an Arrow column, one by one, with fastavro: for every schema, and with reasons."""

import io
from typing import Any

import fastavro
import pyarrow as pa

from penstock.schemas.avro.schema import AvroType
from penstock.spark.registry.avro.logical_columns import finished, written_type
from penstock.spark.registry.avro.rendering import render_raw
from penstock.spark.registry.avro.resolution import check_bounded, check_meanings
from penstock.spark.registry.avro.union_values import has_members, shape_of
from penstock.spark.registry.isolation import build_column
from penstock.spark.registry.payloads import Decoded, Payloads


class RowDecoder:
    """Reads what one schema wrote as what another says."""

    def __init__(self, writer: AvroType, reader: AvroType) -> None:
        check_bounded(writer)
        check_meanings(writer, reader)
        self._reader_type = reader
        self._writer = _parsed(writer)
        self._reader = None if writer == reader else _parsed(reader)
        self._shape = shape_of(reader) if has_members(reader) else None
        self._written_type = written_type(reader)

    def decode(self, payloads: Payloads) -> Decoded:
        """Every record's value, or the reason why it has none."""
        values: list[Any] = []
        reasons: dict[int, str] = {}
        for row, payload in enumerate(payloads):
            try:
                values.append(self._value(payload))
            except (
                Exception
            ) as error:  # fastavro has no error of its own for bytes that are not of the schema.
                reasons[row] = f"{type(error).__name__}: {error}"
                values.append(None)
        return build_column(values, self._column, reasons)

    def _value(self, payload: bytes) -> Any:
        stream = io.BytesIO(payload)
        value = fastavro.schemaless_reader(
            stream, self._writer, self._reader, return_named_type=self._shape is not None
        )
        if stream.tell() != len(payload):
            raise ValueError(f"{len(payload) - stream.tell()} bytes are left over after the record")
        return value if self._shape is None else self._shape(value)

    def _column(self, values: list[Any]) -> Any:
        return finished(pa.array(values, self._written_type), self._reader_type)


def _parsed(avro: AvroType) -> Any:
    # Defaults are values already, which fastavro would compare with what JSON can say.
    return fastavro.parse_schema(render_raw(avro), _ignore_default_error=True)
