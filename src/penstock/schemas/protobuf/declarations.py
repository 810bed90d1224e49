"""Messages, enumerations, fields and services of a .proto file into their descriptors.

Names of types stay as they are written; ``linking`` finds what they mean.
"""

import math
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    ServiceDescriptorProto,
    UninterpretedOption,
)

from penstock.model.limits import SCHEMA_MESSAGE_NESTING_MAX
from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.escapes import escaped
from penstock.schemas.protobuf.options import read_option, set_options
from penstock.schemas.protobuf.tokens import Reader

SCALARS = {
    name: FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}")
    for name in (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
}
LABELS = {
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}
NUMBER_MAX = 2**29 - 1
ENUM_NUMBER_MAX = 2**31 - 1
_VISIBILITIES = ("export", "local")


class DeclarationParser:
    """Reads declarations out of a file's words."""

    def __init__(self, words: Reader) -> None:
        self._words = words
        self._depth = 0
        self.is_proto3 = False

    def option(self, options: Any) -> None:
        """``option name = value;``; the first word is read."""
        set_options(options, [read_option(self._words)])
        self._words.expect(";")

    def message(self, message: DescriptorProto) -> None:
        """``message Name { ... }``; the first word is read."""
        message.name = self._words.name()
        self._body(message)

    def enumeration(self, enumeration: EnumDescriptorProto) -> None:
        """``enum Name { ... }``; the first word is read."""
        words = self._words
        enumeration.name = words.name()
        words.expect("{")
        while not words.take_if("}"):
            if words.take_if(";"):
                continue
            if words.peek() == "option" and words.peek(1) != "=":
                words.take()
                self.option(enumeration.options)
            elif words.peek() == "reserved" and words.peek(1) != "=":
                self._reserved(enumeration, last=ENUM_NUMBER_MAX, beyond=0)
            else:
                value = enumeration.value.add(name=words.name())
                words.expect("=")
                value.number = words.integer()
                set_options(value.options, self._bracketed())
                if not value.options.ListFields():
                    value.ClearField("options")
                words.expect(";")

    def service(self, service: ServiceDescriptorProto) -> None:
        """``service Name { ... }``; the first word is read."""
        words = self._words
        service.name = words.name()
        words.expect("{")
        while not words.take_if("}"):
            if words.take_if(";"):
                continue
            if words.take_if("option"):
                self.option(service.options)
                continue
            words.expect("rpc")
            self._method(service)

    def extensions_of(self, add: Callable[[], FieldDescriptorProto], home: DescriptorProto | Any) -> None:
        """``extend Name { ... }``; the first word is read. ``home`` is what groups within become part of."""
        words = self._words
        extendee = words.name()
        words.expect("{")
        while not words.take_if("}"):
            if not words.take_if(";"):
                field = self._field(add, home, words.take_if(*LABELS))
                field.extendee = extendee

    def _method(self, service: ServiceDescriptorProto) -> None:
        words = self._words
        method = service.method.add(name=words.name())
        method.input_type, is_client_streaming = self._parameter()
        words.expect("returns")
        method.output_type, is_server_streaming = self._parameter()
        if is_client_streaming:
            method.client_streaming = True
        if is_server_streaming:
            method.server_streaming = True
        if not words.take_if("{"):
            words.expect(";")
            return
        method.options.SetInParent()
        while not words.take_if("}"):
            if not words.take_if(";"):
                words.expect("option")
                self.option(method.options)

    def _parameter(self) -> tuple[str, bool]:
        words = self._words
        words.expect("(")
        is_stream = words.peek() == "stream" and words.peek(1) != ")"
        if is_stream:
            words.take()
        name = words.name()
        words.expect(")")
        return name, is_stream

    def _body(self, message: DescriptorProto) -> None:
        words = self._words
        words.expect("{")
        self._depth += 1
        if self._depth > SCHEMA_MESSAGE_NESTING_MAX:
            raise InvalidSchema(
                f".proto, line {words.line()}: messages nested more than {SCHEMA_MESSAGE_NESTING_MAX} deep."
            )
        while not words.take_if("}"):
            self._member(message)
        self._depth -= 1
        self._add_oneofs_of_optional_fields(message)

    def _member(self, message: DescriptorProto) -> None:
        words = self._words
        # A field's type may be called like a statement, but then a name and no brace follows.
        if words.peek() in _VISIBILITIES and words.peek(1) in ("message", "enum") and words.peek(3) == "{":
            words.take()
        match words.peek():
            case ";":
                words.take()
            case "message" if words.peek(2) == "{":
                words.take()
                self.message(message.nested_type.add())
            case "enum" if words.peek(2) == "{":
                words.take()
                self.enumeration(message.enum_type.add())
            case "oneof" if words.peek(2) == "{":
                words.take()
                self._oneof(message)
            case "option" if words.peek(2) != "=" or not words.peek(3).isdecimal():
                words.take()
                self.option(message.options)
            case "reserved" if words.peek(2) != "=":
                self._reserved(message, last=NUMBER_MAX, beyond=1)
            case "extensions" if words.peek(2) != "=":
                self._extension_ranges(message)
            case "extend" if words.peek(2) == "{":
                words.take()
                self.extensions_of(message.extension.add, message)
            case "map" if words.peek(1) == "<":
                self._map(message)
            case _:
                self._field(message.field.add, message, words.take_if(*LABELS))

    def _oneof(self, message: DescriptorProto) -> None:
        words = self._words
        index = len(message.oneof_decl)
        oneof = message.oneof_decl.add(name=words.name())
        words.expect("{")
        while not words.take_if("}"):
            if words.take_if(";"):
                continue
            if words.peek() == "option" and (words.peek(2) != "=" or not words.peek(3).isdecimal()):
                words.take()
                self.option(oneof.options)
                continue
            self._field(message.field.add, message, "").oneof_index = index

    def _field(self, add: Callable[[], FieldDescriptorProto], home: Any, label: str) -> FieldDescriptorProto:
        words = self._words
        if words.peek() == "group" and words.peek(2) == "=" and words.peek(1)[:1].isupper():
            return self._group(add(), home, label)
        type_name = words.name()
        field = add()
        field.name, field.label = words.name(), LABELS[label or "optional"]
        _set_type(field, type_name)
        words.expect("=")
        field.number = words.integer()
        self._set_field_options(field)
        words.expect(";")
        if self.is_proto3 and label == "optional":
            field.proto3_optional = True
        return field

    def _group(self, field: FieldDescriptorProto, home: Any, label: str) -> FieldDescriptorProto:
        """A field and the message that it consists of, in one declaration."""
        words = self._words
        words.take()
        name = words.name()
        words.expect("=")
        field.name, field.label, field.number = name.lower(), LABELS[label or "optional"], words.integer()
        field.type, field.type_name = FieldDescriptorProto.TYPE_GROUP, name
        field.json_name = json_name(field.name)
        self._set_field_options(field)
        nested = home.nested_type.add() if isinstance(home, DescriptorProto) else home.message_type.add()
        nested.name = name
        self._body(nested)
        return field

    def _map(self, message: DescriptorProto) -> None:
        words = self._words
        words.take()
        words.expect("<")
        key = words.name()
        words.expect(",")
        value = words.name()
        words.expect(">")
        name = words.name()
        entry = message.nested_type.add(name=f"{_camel_case(name)}Entry")
        entry.options.map_entry = True
        for number, (part, type_name) in enumerate((("key", key), ("value", value)), 1):
            field = entry.field.add(name=part, number=number, label=LABELS["optional"], json_name=part)
            _set_type(field, type_name)
        words.expect("=")
        mapped = message.field.add(
            name=name,
            number=words.integer(),
            label=LABELS["repeated"],
            type=FieldDescriptorProto.TYPE_MESSAGE,
            type_name=entry.name,
        )
        self._set_field_options(mapped)
        words.expect(";")

    def _add_oneofs_of_optional_fields(self, message: DescriptorProto) -> None:
        """proto3's optional fields know whether they are set by being alone in a oneof, after all others."""
        taken = {field.name for field in message.field} | {oneof.name for oneof in message.oneof_decl}
        for field in message.field:
            if field.proto3_optional:
                name = field.name if field.name.startswith("_") else f"_{field.name}"
                while name in taken:
                    name = f"X{name}"
                taken.add(name)
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=name)

    def _set_field_options(self, field: FieldDescriptorProto) -> None:
        """``[name = value, ...]``; two of the names are no options but parts of the field."""
        field.json_name = json_name(field.name)
        given = []
        for option in self._bracketed():
            name = (
                option.name[0].name_part if len(option.name) == 1 and not option.name[0].is_extension else ""
            )
            if name == "json_name":
                field.json_name = option.string_value.decode()
            elif name == "default":
                field.default_value = default_text(field, option)
            else:
                given.append(option)
        if given:
            set_options(field.options, given)

    def _bracketed(self) -> list[UninterpretedOption]:
        words = self._words
        options: list[UninterpretedOption] = []
        if not words.take_if("["):
            return options
        while True:
            options.append(read_option(words))
            if not words.take_if(","):
                words.expect("]")
                return options

    def _reserved(self, home: DescriptorProto | EnumDescriptorProto, *, last: int, beyond: int) -> None:
        """Numbers and names; ``beyond`` is how much further than its last number a range is said to end."""
        words = self._words
        words.take()
        while True:
            if words.is_at("text"):
                home.reserved_name.append(words.string())
            elif words.is_at("name"):
                home.reserved_name.append(words.name())
            else:
                start, end = self._range(last)
                home.reserved_range.add(start=start, end=end + beyond)
            if not words.take_if(","):
                words.expect(";")
                return

    def _extension_ranges(self, message: DescriptorProto) -> None:
        words = self._words
        words.take()
        ranges = []
        while True:
            start, end = self._range(NUMBER_MAX)
            ranges.append(message.extension_range.add(start=start, end=end + 1))
            if not words.take_if(","):
                break
        options = self._bracketed()
        for each in ranges:
            if options:
                set_options(each.options, options)
        words.expect(";")

    def _range(self, last: int) -> tuple[int, int]:
        start = self._words.integer()
        if not self._words.take_if("to"):
            return start, start
        return start, last if self._words.take_if("max") else self._words.integer()


def json_name(name: str) -> str:
    """What a field is called in JSON unless it says otherwise: without underscores, capitals after them."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)


def default_text(field: FieldDescriptorProto, option: UninterpretedOption) -> str:
    """A default as descriptors have it: a text, whatever the type."""
    if option.HasField("string_value"):
        is_bytes = field.type == FieldDescriptorProto.TYPE_BYTES
        return escaped(option.string_value) if is_bytes else option.string_value.decode()
    if option.HasField("identifier_value"):
        return option.identifier_value
    if option.HasField("aggregate_value"):
        raise InvalidSchema(f".proto: the default of {field.name!r} is no value.")
    number = option.negative_int_value or option.positive_int_value
    if field.type in (FieldDescriptorProto.TYPE_DOUBLE, FieldDescriptorProto.TYPE_FLOAT):
        return _float_text(option.double_value if option.HasField("double_value") else float(number), field)
    return str(number)


def _float_text(number: float, field: FieldDescriptorProto) -> str:
    if math.isinf(number) or math.isnan(number):
        return f"{number}"
    for digits in range(6 if field.type == FieldDescriptorProto.TYPE_FLOAT else 15, 18):
        text = f"{number:.{digits}g}"
        if float(text) == number:
            break
    return text


def _set_type(field: FieldDescriptorProto, name: str) -> None:
    if name in SCALARS:
        field.type = SCALARS[name]
    else:
        field.type_name = name


def _camel_case(name: str) -> str:
    """As protoc names the entries of maps: a letter after an underscore, and the first one, are capitals."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
