"""Arrow columns into Avro records, all rows of a batch at once.

Every value becomes a binary column of its encoding, and the columns are joined; so a null that the schema
has no room for becomes a null record, which is then refused with the way to it. Nothing is written that a
reader of the schema would not give back: numbers must fit, words must be symbols, and columns that the
schema does not know are refused, not dropped. Only timestamps lose what is finer than the schema's unit.
"""

import io
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schemas.avro.schema import (
    MISSING,
    NULL,
    Array,
    AvroType,
    Enumeration,
    Field,
    Fixed,
    Logical,
    Map,
    Primitive,
    Record,
    Union,
    type_name,
)
from penstock.spark.registry.avro.decimal_bytes import fixed_bytes, shortest_bytes
from penstock.spark.registry.avro.null_paths import null_path
from penstock.spark.registry.avro.rendering import render_raw
from penstock.spark.registry.avro.spark_types import member_name, members
from penstock.spark.registry.binary_columns import (
    as_lists,
    blocks,
    floats,
    joined,
    scalar,
    table_rows,
    varint,
    varints,
    with_length,
)
from penstock.spark.registry.errors import SchemaUnsupportedError, UnwritableValueError


def encode(values: Any, avro: AvroType) -> Any:
    """A binary column of Avro records; null where a whole value is null and the schema has no null for it."""
    encoded = _Encoder(path="").encode(values, avro)
    is_lost = pc.and_not(pc.is_valid(values), pc.is_valid(encoded))
    if pc.any(is_lost).as_py():
        row = is_lost.index(True).as_py()
        raise UnwritableValueError(
            f"{null_path(values[row].as_py(), avro)} is null, and the schema has no null there."
        )
    return encoded


class _Encoder:
    """At a place in the schema; ``path`` is the way there, for errors."""

    def __init__(self, *, path: str) -> None:
        self._path = path

    def encode(self, values: Any, avro: AvroType) -> Any:
        """The encoding of each value, null for nulls; a union of null has an encoding for them too."""
        match avro:
            case Primitive():
                return self._primitive(values, avro)
            case Fixed():
                return self._fixed(values, avro)
            case Enumeration():
                return self._symbols(values, avro)
            case Array():
                return self._array(values, avro)
            case Map():
                return self._map(values, avro)
            case Record():
                return self._record(values, avro)
            case Union():
                return self._union(values, avro)

    def _primitive(self, values: Any, avro: Primitive) -> Any:
        if avro.logical is not None and avro.logical.name != "uuid":
            return self._logical(values, avro)
        kind, have = avro.kind, values.type
        if kind == "boolean" and pa.types.is_boolean(have):
            return pc.if_else(values, scalar(b"\1"), scalar(b"\0"))
        if kind in ("int", "long") and pa.types.is_integer(have):
            return varints(self._cast(values, pa.int32() if kind == "int" else pa.int64()))
        if (kind == "double" and pa.types.is_floating(have)) or (kind == "float" and have == pa.float32()):
            return floats(values.cast(pa.float32() if kind == "float" else pa.float64()))
        if kind == "string" and pa.types.is_string(have):
            return with_length(values.cast(pa.binary()))
        if kind == "bytes" and pa.types.is_binary(have):
            return with_length(values)
        if kind == "null" and values.null_count == len(values):
            return pa.repeat(scalar(b""), len(values))
        raise self._mismatch(values, avro)

    def _logical(self, values: Any, avro: Primitive) -> Any:
        name, have = avro.logical.name if avro.logical else "", values.type
        if name == "date" and pa.types.is_date32(have):
            return varints(values.view(pa.int32()))
        if name.startswith("time-") and pa.types.is_integer(have):
            return varints(self._cast(values, pa.int32() if name == "time-millis" else pa.int64()))
        if name == "decimal" and pa.types.is_decimal(have):
            return with_length(shortest_bytes(self._rescaled(values, avro.logical)))
        if (
            "timestamp" in name
            and pa.types.is_timestamp(have)
            and (have.tz is None) == name.startswith("local")
        ):
            micros = values.cast(pa.timestamp("us", tz=have.tz)).view(pa.int64())
            return varints(_thousandths(micros) if name.endswith("millis") else micros)
        raise self._mismatch(values, avro)

    def _fixed(self, values: Any, avro: Fixed) -> Any:
        if avro.logical is not None and pa.types.is_decimal(values.type):
            return self._fixed_decimal(values, avro)
        if not pa.types.is_binary(values.type):
            raise self._mismatch(values, avro)
        sizes = pc.unique(pc.drop_null(pc.binary_length(values))).to_pylist()
        if any(size != avro.size for size in sizes):
            raise UnwritableValueError(f"{self._path}: {sizes} bytes for {type_name(avro)} of {avro.size}.")
        return values

    def _fixed_decimal(self, values: Any, avro: Fixed) -> Any:
        rescaled = self._rescaled(values, avro.logical)
        try:
            return table_rows(fixed_bytes(rescaled, avro.size), rescaled)
        except ValueError as error:
            raise UnwritableValueError(f"{self._path}: {error}") from error

    def _symbols(self, values: Any, avro: Enumeration) -> Any:
        if not pa.types.is_string(values.type):
            raise self._mismatch(values, avro)
        indexes = pc.index_in(values, value_set=pa.array(avro.symbols, pa.string()))
        unknown = pc.and_not(pc.is_valid(values), pc.is_valid(indexes))
        if pc.any(unknown).as_py():
            word = values[unknown.index(True).as_py()]
            raise UnwritableValueError(f"{self._path}: {word!s} is none of {', '.join(avro.symbols)}.")
        return varints(indexes)

    def _array(self, values: Any, avro: Array) -> Any:
        if not pa.types.is_list(values.type):
            raise self._mismatch(values, avro)
        items = self._at("[]").encode(values.flatten(), avro.items)
        return blocks(values, items)

    def _map(self, values: Any, avro: Map) -> Any:
        if not pa.types.is_map(values.type) or not pa.types.is_string(values.type.key_type):
            raise self._mismatch(values, avro)
        lists = as_lists(values)
        keys, items = lists.flatten().flatten()
        encoded = self._at("{}").encode(items, avro.values)
        return blocks(lists, joined([with_length(keys.cast(pa.binary())), encoded]))

    def _record(self, values: Any, avro: Record) -> Any:
        if not pa.types.is_struct(values.type):
            raise self._mismatch(values, avro)
        columns = dict(zip([field.name for field in values.type], values.flatten(), strict=True))
        unknown = columns.keys() - {field.name for field in avro.fields}
        if unknown:
            raise SchemaUnsupportedError(
                f"{self._path or 'The column'} has {', '.join(sorted(unknown))}, which record {avro.name} has"
                " not; leave it out, or register a schema that has it."
            )
        parts = [self._field(columns.get(field.name), field, avro, len(values)) for field in avro.fields]
        together = joined(parts) if parts else pa.repeat(scalar(b""), len(values))
        return pc.if_else(pc.is_valid(values), together, scalar(None))

    def _field(self, column: Any, field: Field, record: Record, length: int) -> Any:
        if column is not None:
            return self._at(field.name).encode(column, field.type)
        if field.default is MISSING:
            raise SchemaUnsupportedError(
                f"{self._path or 'The column'} lacks {field.name}, for which record {record.name} has no"
                " default."
            )
        return pa.repeat(scalar(encode_value(field.default, field.type)), length)

    def _union(self, values: Any, avro: Union) -> Any:
        others = members(avro)
        if len(others) == 1:
            encoded = self._branch(values, avro, others[0])
        elif others:
            encoded = self._members(values, avro, others)
        else:
            encoded = pa.nulls(len(values), pa.binary())
        if NULL not in avro.branches:
            return encoded
        null = scalar(varint(avro.branches.index(NULL)))
        return pc.if_else(pc.is_null(values), null, encoded)

    def _branch(self, values: Any, union: Union, branch: AvroType) -> Any:
        index = scalar(varint(union.branches.index(branch)))
        return joined([pa.repeat(index, len(values)), self.encode(values, branch)])

    def _members(self, values: Any, union: Union, others: tuple[AvroType, ...]) -> Any:
        """The reverse of the struct that such a union is read as: the one field that is set."""
        names = [member_name(index) for index in range(len(others))]
        if not pa.types.is_struct(values.type) or [field.name for field in values.type] != names:
            raise self._mismatch(values, union)
        columns = values.flatten()
        set_count = sum(np.asarray(pc.is_valid(column)).astype(np.int64) for column in columns)
        if np.any(np.asarray(pc.is_valid(values)) & (set_count != 1)):
            raise UnwritableValueError(
                f"{self._path or 'The column'}: exactly one of {', '.join(names)} is set."
            )
        parts = [self._branch(column, union, other) for column, other in zip(columns, others, strict=True)]
        return pc.coalesce(*parts)

    def _at(self, name: str) -> "_Encoder":
        return _Encoder(path=f"{self._path}.{name}" if self._path else name)

    def _cast(self, values: Any, wanted: Any) -> Any:
        try:
            return values.cast(wanted)
        except pa.ArrowInvalid as error:
            raise UnwritableValueError(f"{self._path or 'The column'}: {error}") from error

    def _rescaled(self, values: Any, logical: Logical | None) -> Any:
        precision, scale = (logical.precision, logical.scale) if logical else (38, 0)
        return self._cast(values, pa.decimal128(precision, scale))

    def _mismatch(self, values: Any, avro: AvroType) -> SchemaUnsupportedError:
        where = self._path or "The column"
        return SchemaUnsupportedError(
            f"{where} is {values.type}, which is not written as {type_name(avro)}; cast it."
        )


def encode_value(value: Any, avro: AvroType) -> bytes:
    """One value in Python's types, as a default has it: raw, without logical types."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, render_raw(avro), value)
    return stream.getvalue()


def _thousandths(micros: Any) -> Any:
    """Rounded down, also before 1970."""
    numbers = pc.fill_null(micros, 0).to_numpy() // 1000
    return pa.array(numbers, mask=np.asarray(pc.is_null(micros)))
