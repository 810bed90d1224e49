"""What protoc asks of a file beyond its grammar: numbers, names and labels that fit together.

Asked of files that somebody registers. What files get wrong with one another, the runtime's pool finds.
"""

from collections import Counter
from collections.abc import Iterable

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.declarations import NUMBER_MAX
from penstock.schemas.protobuf.linking import declared_types

RESERVED_BY_PROTOBUF = range(19_000, 20_000)
_NO_KEYS = frozenset(
    {
        *(FieldDescriptorProto.TYPE_DOUBLE, FieldDescriptorProto.TYPE_FLOAT, FieldDescriptorProto.TYPE_BYTES),
        *(FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM, FieldDescriptorProto.TYPE_GROUP),
    }
)


def validate(file: FileDescriptorProto) -> None:
    """Refuse a file that protoc would refuse, with the message or enumeration at fault."""
    for name, declared in declared_types(file):
        if isinstance(declared, DescriptorProto):
            _check_message(name, declared, file)
        else:
            _check_enumeration(name, declared, file)


def _check_message(name: str, message: DescriptorProto, file: FileDescriptorProto) -> None:
    _check_once(name, "field number", [field.number for field in message.field])
    names = [each.name for each in message.field] + [each.name for each in message.oneof_decl]
    names += [each.name for each in message.nested_type] + [each.name for each in message.enum_type]
    _check_once(name, "name", names + [each.name for each in message.extension])
    for field in message.field:
        _check_field(name, field, file)
        for each in message.reserved_range:
            if each.start <= field.number < each.end:
                raise _refusal(name, f"field {field.name!r} has the number {field.number}, which is reserved")
        if field.name in message.reserved_name:
            raise _refusal(name, f"the name of field {field.name!r} is reserved")
    if message.options.map_entry and message.field[0].type in _NO_KEYS:
        raise _refusal(name, "keys of a map are integers, bools or strings")


def _check_field(name: str, field: FieldDescriptorProto, file: FileDescriptorProto) -> None:
    if not 1 <= field.number <= NUMBER_MAX:
        raise _refusal(
            name, f"field {field.name!r} has the number {field.number}; numbers go from 1 to {NUMBER_MAX}"
        )
    if field.number in RESERVED_BY_PROTOBUF:
        raise _refusal(
            name, f"field {field.name!r} has the number {field.number}; 19000 to 19999 are Protobuf's own"
        )
    if file.syntax == "proto3":
        if field.label == FieldDescriptorProto.LABEL_REQUIRED:
            raise _refusal(name, f"field {field.name!r} is required, which proto3 has not")
        if field.HasField("default_value"):
            raise _refusal(name, f"field {field.name!r} has a default, which proto3 has not")
        if field.type == FieldDescriptorProto.TYPE_GROUP:
            raise _refusal(name, f"field {field.name!r} is a group, which proto3 has not; use a message")


def _check_enumeration(name: str, enumeration: EnumDescriptorProto, file: FileDescriptorProto) -> None:
    if not enumeration.value:
        raise _refusal(name, "an enum has one value at least")
    if file.syntax == "proto3" and enumeration.value[0].number != 0:
        raise _refusal(
            name, f"the first value, {enumeration.value[0].name!r}, is not 0, as in proto3 it must be"
        )
    if not enumeration.options.allow_alias:
        _check_once(name, "number", [value.number for value in enumeration.value])
    for value in enumeration.value:
        if any(each.start <= value.number <= each.end for each in enumeration.reserved_range):
            raise _refusal(name, f"value {value.name!r} has the number {value.number}, which is reserved")
        if value.name in enumeration.reserved_name:
            raise _refusal(name, f"the name of value {value.name!r} is reserved")


def _check_once(name: str, what: str, values: Iterable[int | str]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise _refusal(name, f"the {what} {value!r} is there {count} times")


def _refusal(name: str, reason: str) -> InvalidSchema:
    return InvalidSchema(f".proto, in {name}: {reason}.")
