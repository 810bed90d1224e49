"""The Spark type of a Protobuf message, and a .proto text for a Spark type.

=====================================  =================================================================
int32, sint32, sfixed32                int
int64, sint64, sfixed64                bigint
uint32, fixed32                        bigint, so that no number is negative
uint64, fixed64                        decimal(20,0), likewise
enumerations                           string: the name, or the number if it has none
google.protobuf.Timestamp              timestamp
google.protobuf.Duration               interval day to second
google.protobuf.StringValue and alike  the type within, which may be null
google.protobuf.Struct, Value          string: JSON
other messages                         struct
repeated fields, maps                  array, map
=====================================  =================================================================

A field that knows whether it was set (message fields, ``optional``, oneofs, all of proto2) is null if it was
not; the others have the value that stands for "not set": 0, false, nothing.
"""

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from pyspark.sql import types as t

from penstock.model.errors import InvariantError
from penstock.spark.registry.errors import SchemaUnsupportedError

TIMESTAMP = "google.protobuf.Timestamp"
DURATION = "google.protobuf.Duration"
JSON_TYPES = {"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"}
WRAPPERS = {
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
}
_SCALARS: dict[int, t.DataType] = {
    FieldDescriptor.TYPE_DOUBLE: t.DoubleType(),
    FieldDescriptor.TYPE_FLOAT: t.FloatType(),
    FieldDescriptor.TYPE_INT32: t.IntegerType(),
    FieldDescriptor.TYPE_SINT32: t.IntegerType(),
    FieldDescriptor.TYPE_SFIXED32: t.IntegerType(),
    FieldDescriptor.TYPE_INT64: t.LongType(),
    FieldDescriptor.TYPE_SINT64: t.LongType(),
    FieldDescriptor.TYPE_SFIXED64: t.LongType(),
    FieldDescriptor.TYPE_UINT32: t.LongType(),
    FieldDescriptor.TYPE_FIXED32: t.LongType(),
    FieldDescriptor.TYPE_UINT64: t.DecimalType(20, 0),
    FieldDescriptor.TYPE_FIXED64: t.DecimalType(20, 0),
    FieldDescriptor.TYPE_BOOL: t.BooleanType(),
    FieldDescriptor.TYPE_STRING: t.StringType(),
    FieldDescriptor.TYPE_BYTES: t.BinaryType(),
    FieldDescriptor.TYPE_ENUM: t.StringType(),
}


def spark_type(message: Descriptor, within: tuple[str, ...] = ()) -> t.DataType:
    """The type of a column of such messages; ``within`` are the messages round it."""
    name = message.full_name
    if name == TIMESTAMP:
        return t.TimestampType()
    if name == DURATION:
        return t.DayTimeIntervalType()
    if name in JSON_TYPES:
        return t.StringType()
    if name in WRAPPERS:
        return _SCALARS[message.fields_by_name["value"].type]
    if name in within:
        raise SchemaUnsupportedError(
            f"Protobuf message {name!r} contains itself, and Spark has no recursive types; decode such"
            " records in a function of your own."
        )
    fields = [t.StructField(field.name, field_type(field, (*within, name))) for field in message.fields]
    return t.StructType(fields)


def field_type(field: FieldDescriptor, within: tuple[str, ...] = ()) -> t.DataType:
    """The type of a column of the values of a field."""
    if is_map(field):
        entry = message_of(field).fields_by_name
        return t.MapType(_value_type(entry["key"], within), _value_type(entry["value"], within))
    value = _value_type(field, within)
    return t.ArrayType(value) if is_repeated(field) else value


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map, which is written as repeated pairs."""
    return field.type == FieldDescriptor.TYPE_MESSAGE and bool(message_of(field).GetOptions().map_entry)


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field may be there several times."""
    return bool(field.is_repeated)


def message_of(field: FieldDescriptor) -> Descriptor:
    """The message that a message field holds."""
    if field.message_type is None:
        raise InvariantError(f"{field.full_name} is no message field")
    return field.message_type


def names_of(field: FieldDescriptor) -> dict[int, str]:
    """The names of an enumeration's numbers; the first where a number has several."""
    if field.enum_type is None:
        raise InvariantError(f"{field.full_name} is no enumeration")
    return {number: value.name for number, value in field.enum_type.values_by_number.items()}


def _value_type(field: FieldDescriptor, within: tuple[str, ...]) -> t.DataType:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return spark_type(message_of(field), within)
    if field.type not in _SCALARS:
        raise SchemaUnsupportedError(f"Protobuf field {field.full_name!r} is a group, which is not read.")
    return _SCALARS[field.type]
