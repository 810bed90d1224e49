"""The text of a .proto file into its descriptor: what is needed to read and write messages, and no more.

proto2, proto3 and editions. Messages, enumerations, oneofs, maps, reserved numbers; of options only those
that change bytes: ``packed``, ``allow_alias`` and ``features``. Services, extensions, custom options and
defaults are passed over. Names of types stay as they are written: the descriptor pool finds what they mean.
"""

import base64
import binascii
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.message import DecodeError

from penstock.spark.registry.errors import SchemaUnsupportedError
from penstock.spark.registry.protobuf.tokens import Reader

SCALARS = {
    name: FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}")
    for name in (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
}
_LABELS = {
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}
_FEATURES = "features."


def parse_file(text: str, name: str = "default.proto") -> FileDescriptorProto:
    """The descriptor of a file, from its text or from a descriptor in base 64: registries give both."""
    serialized = _serialized(text)
    if serialized is not None:
        serialized.name = name
        return serialized
    return _FileParser(text, name).parse()


def _serialized(text: str) -> FileDescriptorProto | None:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
        return FileDescriptorProto.FromString(data)
    except (binascii.Error, DecodeError, ValueError):
        return None


class _FileParser:
    def __init__(self, text: str, name: str) -> None:
        self._words = Reader(text)
        self._file = FileDescriptorProto(name=name)
        self._is_proto3 = False

    def parse(self) -> FileDescriptorProto:
        while not self._words.is_at_end():
            self._statement(self._words.take().text)
        return self._file

    def _statement(self, word: str) -> None:
        words = self._words
        match word:
            case ";":
                pass
            case "syntax" | "edition":
                self._syntax(word)
            case "package":
                self._file.package = words.name()
                words.expect(";")
            case "import":
                words.take_if("public", "weak", "option")
                self._file.dependency.append(words.string())
                words.expect(";")
            case "option":
                self._option(self._file.options)
            case "message":
                self._message(self._file.message_type.add())
            case "enum":
                self._enumeration(self._file.enum_type.add())
            case "service" | "extend":
                words.skip_to("{")
                words.skip_to("}")
            case _:
                raise SchemaUnsupportedError(f".proto: {word!r} begins no statement of a file.")

    def _syntax(self, word: str) -> None:
        self._words.expect("=")
        value = self._words.string()
        self._words.expect(";")
        self._is_proto3 = value == "proto3"
        if word == "syntax":
            self._file.syntax = value
            return
        self._file.syntax = "editions"
        try:
            self._file.edition = Edition.Value(f"EDITION_{value}")
        except ValueError:
            raise SchemaUnsupportedError(f".proto: there is no edition {value!r}.") from None

    def _message(self, message: DescriptorProto) -> None:
        words = self._words
        message.name = words.name()
        words.expect("{")
        while not words.take_if("}"):
            self._member(message)
        self._add_oneofs_of_optional_fields(message)

    def _member(self, message: DescriptorProto) -> None:
        words = self._words
        # A field's type may be called like a statement, but then a name and no brace follows.
        match words.peek():
            case ";":
                words.take()
            case "message" if words.peek(2) == "{":
                words.take()
                self._message(message.nested_type.add())
            case "enum" if words.peek(2) == "{":
                words.take()
                self._enumeration(message.enum_type.add())
            case "oneof" if words.peek(2) == "{":
                words.take()
                self._oneof(message)
            case "option" if words.peek(2) != "=" or not words.peek(3).isdecimal():
                words.take()
                self._option(message.options)
            case "reserved" | "extensions" if words.peek(2) != "=":
                words.skip_to(";")
            case "extend" if words.peek(2) == "{":
                words.skip_to("{")
                words.skip_to("}")
            case "map" if words.peek(1) == "<":
                self._map(message)
            case _:
                self._field(message, label=words.take_if(*_LABELS))

    def _oneof(self, message: DescriptorProto) -> None:
        words = self._words
        index = len(message.oneof_decl)
        message.oneof_decl.add(name=words.name())
        words.expect("{")
        while not words.take_if("}"):
            if words.take_if(";"):
                continue
            if words.peek() == "option" and (words.peek(2) != "=" or not words.peek(3).isdecimal()):
                words.skip_to(";")
                continue
            self._field(message).oneof_index = index

    def _field(self, message: DescriptorProto, label: str = "") -> FieldDescriptorProto:
        words = self._words
        if words.peek() == "group" and words.peek(3).isdecimal():
            raise SchemaUnsupportedError(
                f".proto: {message.name} has a group, which is not read; use a message."
            )
        type_name = words.name()
        field = message.field.add(name=words.name(), label=_LABELS[label or "optional"])
        if type_name in SCALARS:
            field.type = SCALARS[type_name]
        else:
            field.type_name = type_name
        words.expect("=")
        field.number = words.integer()
        self._field_options(field)
        field.proto3_optional = self._is_proto3 and label == "optional"
        if not field.proto3_optional:
            field.ClearField("proto3_optional")
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
            field = entry.field.add(name=part, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
            if type_name in SCALARS:
                field.type = SCALARS[type_name]
            else:
                field.type_name = type_name
        words.expect("=")
        mapped = message.field.add(
            name=name,
            number=words.integer(),
            label=FieldDescriptorProto.LABEL_REPEATED,
            type=FieldDescriptorProto.TYPE_MESSAGE,
            type_name=f"{message.name}.{entry.name}",
        )
        self._field_options(mapped)

    def _add_oneofs_of_optional_fields(self, message: DescriptorProto) -> None:
        """proto3's optional fields know whether they are set by being alone in a oneof, after all others."""
        for field in message.field:
            if field.proto3_optional:
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def _enumeration(self, enumeration: EnumDescriptorProto) -> None:
        words = self._words
        enumeration.name = words.name()
        words.expect("{")
        while not words.take_if("}"):
            if words.take_if(";"):
                continue
            if words.peek() == "option" and words.peek(1) != "=":
                words.take()
                self._option(enumeration.options)
            elif words.peek() == "reserved" and words.peek(1) != "=":
                words.skip_to(";")
            else:
                value = enumeration.value.add(name=words.name())
                words.expect("=")
                value.number = words.integer()
                if words.take_if("["):
                    words.skip_to("]")
                words.expect(";")

    def _option(self, options: Any) -> None:
        """``name = value;``; the word ``option`` is read."""
        name = "".join(self._words.skip_to("="))
        _set_option(options, name, " ".join(self._words.skip_to(";")))

    def _field_options(self, field: FieldDescriptorProto) -> None:
        """``[name = value, ...];`` or just the end."""
        words = self._words
        if words.take_if("["):
            given, name, value = words.skip_to("]"), "", ""
            for part in _split(given):
                name, _, value = part.partition("=")
                _set_option(field.options, name.strip(), value.strip())
        words.expect(";")


def _split(words: list[str]) -> list[str]:
    """Options between commas that are not within braces."""
    parts, depth = [""], 0
    for word in words:
        depth += (word in "{[(") - (word in ")]}") if word else 0
        if word == "," and not depth:
            parts.append("")
        else:
            parts[-1] += word
    return parts


def _set_option(options: Any, name: str, value: str) -> None:
    """Those that change bytes; all others are passed over."""
    if name in ("packed", "allow_alias"):
        setattr(options, name, value == "true")
    elif name.startswith(_FEATURES):
        feature = name.removeprefix(_FEATURES)
        field = options.features.DESCRIPTOR.fields_by_name.get(feature)
        if field is not None and value in field.enum_type.values_by_name:
            setattr(options.features, feature, field.enum_type.values_by_name[value].number)


def _camel_case(name: str) -> str:
    """As protoc names the entries of maps.

    A letter after an underscore, and the first one, become capitals.
    """
    parts = name.split("_")
    return "".join(part[:1].upper() + part[1:] for part in parts)
