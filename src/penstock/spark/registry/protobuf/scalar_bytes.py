"""Columns of numbers, texts and names as Protobuf's values."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import FieldDescriptor

from penstock.spark.registry.binary_columns import table_rows, unsigned_varints, varints, with_unsigned_length
from penstock.spark.registry.errors import SchemaUnsupportedError, UnwritableValueError
from penstock.spark.registry.protobuf.spark_types import names_of

_VARINT, _FIXED64, _SPAN, _FIXED32 = 0, 1, 2, 5
_RANGES: dict[int, Any] = {
    FieldDescriptor.TYPE_INT32: pa.int32(),
    FieldDescriptor.TYPE_SINT32: pa.int32(),
    FieldDescriptor.TYPE_SFIXED32: pa.int32(),
    FieldDescriptor.TYPE_INT64: pa.int64(),
    FieldDescriptor.TYPE_SINT64: pa.int64(),
    FieldDescriptor.TYPE_SFIXED64: pa.int64(),
    FieldDescriptor.TYPE_UINT32: pa.uint32(),
    FieldDescriptor.TYPE_FIXED32: pa.uint32(),
    FieldDescriptor.TYPE_UINT64: pa.uint64(),
    FieldDescriptor.TYPE_FIXED64: pa.uint64(),
}
_ZIGZAG = (FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64)
WIRE_TYPES: dict[int, int] = {
    **dict.fromkeys(_RANGES, _VARINT),
    FieldDescriptor.TYPE_BOOL: _VARINT,
    FieldDescriptor.TYPE_ENUM: _VARINT,
    FieldDescriptor.TYPE_STRING: _SPAN,
    FieldDescriptor.TYPE_BYTES: _SPAN,
    FieldDescriptor.TYPE_DOUBLE: _FIXED64,
    FieldDescriptor.TYPE_FIXED64: _FIXED64,
    FieldDescriptor.TYPE_SFIXED64: _FIXED64,
    FieldDescriptor.TYPE_FLOAT: _FIXED32,
    FieldDescriptor.TYPE_FIXED32: _FIXED32,
    FieldDescriptor.TYPE_SFIXED32: _FIXED32,
}


def scalar_bytes(values: Any, field: FieldDescriptor, path: str) -> Any:
    """The values of a field as they stand after its number; ``path`` is for errors."""
    kind, have = field.type, values.type
    if kind in _RANGES and (pa.types.is_integer(have) or (pa.types.is_decimal(have) and have.scale == 0)):
        return _integers(_cast(values, _RANGES[kind], path), kind)
    if kind == FieldDescriptor.TYPE_BOOL and pa.types.is_boolean(have):
        return pc.if_else(values, pa.scalar(b"\1"), pa.scalar(b"\0"))
    if kind == FieldDescriptor.TYPE_ENUM and pa.types.is_string(have):
        return _names(values, field, path)
    if kind == FieldDescriptor.TYPE_STRING and pa.types.is_string(have):
        return with_unsigned_length(values.cast(pa.binary()))
    if kind == FieldDescriptor.TYPE_BYTES and pa.types.is_binary(have):
        return with_unsigned_length(values)
    if kind == FieldDescriptor.TYPE_DOUBLE and pa.types.is_floating(have):
        return _table(values.cast(pa.float64()), "<f8")
    if kind == FieldDescriptor.TYPE_FLOAT and have == pa.float32():
        return _table(values, "<f4")
    raise SchemaUnsupportedError(f"{path} is {have}, which is not written as {_words(field)}; cast it.")


def _integers(values: Any, kind: int) -> Any:
    wire_type = WIRE_TYPES[kind]
    if kind in _ZIGZAG:
        return varints(values)
    if wire_type == _VARINT:
        numbers = pc.fill_null(values, pa.scalar(0, values.type)).to_numpy()
        signed = numbers.astype(np.int64) if numbers.dtype.kind == "i" else numbers.astype(np.uint64)
        return unsigned_varints(signed.view(np.uint64), values)
    return _table(
        values, f"<{'i' if pa.types.is_signed_integer(values.type) else 'u'}{values.type.bit_width // 8}"
    )


def _table(values: Any, dtype: str) -> Any:
    numbers = pc.fill_null(values, pa.scalar(0, values.type)).to_numpy().astype(dtype)
    return table_rows(numbers.view(np.uint8).reshape(-1, numbers.dtype.itemsize), values)


def _names(values: Any, field: FieldDescriptor, path: str) -> Any:
    """Names as numbers. A number in digits, as an unknown one is read, is that number again."""
    known = field.enum_type.values_by_name if field.enum_type else {}
    numbers = pa.array([value.number for value in known.values()], pa.int64())
    found = numbers.take(pc.index_in(values, value_set=pa.array(list(known), pa.string())))
    is_number = pc.match_substring_regex(values, r"^-?[0-9]+$")
    digits = pc.if_else(is_number, values, pa.scalar(None, pa.string())).cast(pa.int64())
    together = pc.coalesce(found, digits)
    lost = pc.and_not(pc.is_valid(values), pc.is_valid(together))
    if pc.any(lost).as_py():
        word = values[lost.index(True).as_py()]
        raise UnwritableValueError(f"{path}: {word!s} is none of {', '.join(names_of(field).values())}.")
    return _integers(_cast(together, pa.int32(), path), FieldDescriptor.TYPE_INT32)


def _cast(values: Any, wanted: Any, path: str) -> Any:
    try:
        return values.cast(wanted)
    except pa.ArrowInvalid as error:
        raise UnwritableValueError(f"{path}: {error}") from error


def _words(field: FieldDescriptor) -> str:
    names = {
        number: name.removeprefix("TYPE_").lower()
        for name, number in vars(FieldDescriptor).items()
        if name.startswith("TYPE_")
    }
    return names[field.type]
