"""A descriptor as the text of a .proto file: for people, and for telling whether two files are the same.

The order of messages is kept, since records name a message by its place. Everything else has an order only
for people, which a normalized text gives up: fields stand by their numbers then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool

from penstock.schemas.protobuf.declarations import ENUM_NUMBER_MAX, NUMBER_MAX, SCALARS, json_name
from penstock.schemas.protobuf.escapes import quoted
from penstock.schemas.protobuf.linking import Symbols, declared_types
from penstock.schemas.protobuf.option_texts import option_texts

_SCALAR_NAMES = {number: name for name, number in SCALARS.items()}
_WORDS = frozenset(
    {
        *("message", "enum", "oneof", "option", "reserved", "extensions", "extend", "map", "group", "stream"),
        *("optional", "required", "repeated", "export", "local", *SCALARS),
    }
)
"""With which a declaration of something else than a field would begin."""
Lines = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWriter:
    """Writes one file whose names are full ones."""

    file: FileDescriptorProto
    pool: DescriptorPool
    symbols: Symbols
    entries: Mapping[str, DescriptorProto]
    """As ``map_entries`` gives them."""
    is_normalized: bool = False
    """Fields, values and imports by their numbers and names."""
    has_short_names: bool = False
    """Names of types as short as they can be, for people."""

    def text(self) -> str:
        """The whole file."""
        file = self.file
        messages = [each for each in file.message_type if not self._is_group(each, file.package)]
        sections = [
            self._head(),
            self._imports(),
            self._options(file.options),
            *(self._message(each, file.package) for each in messages),
            *(self._enumeration(each) for each in file.enum_type),
            self._extensions(file.extension, file, file.package),
            *(self._service(each) for each in file.service),
        ]
        return "\n".join(_spaced(sections)) + "\n"

    def _head(self) -> Lines:
        file = self.file
        if file.syntax == "editions":
            head = [f'edition = "{Edition.Name(file.edition).removeprefix("EDITION_")}";']
        else:
            head = [f'syntax = "{file.syntax or "proto2"}";']
        return [*head, f"package {file.package};"] if file.package else head

    def _imports(self) -> Lines:
        file = self.file
        kinds = {index: " public" for index in file.public_dependency}
        kinds |= {index: " weak" for index in file.weak_dependency}
        lines = [
            f"import{kinds.get(index, '')} {quoted(name)};" for index, name in enumerate(file.dependency)
        ]
        return sorted(set(lines)) if self.is_normalized else lines

    def _message(self, message: DescriptorProto, scope: str, head: str = "") -> Lines:
        name = f"{scope}.{message.name}" if scope else message.name
        plain = [field for field in message.field if not self._is_in_oneof(field)]
        nested = [
            each
            for each in message.nested_type
            if not each.options.map_entry and not self._is_group(each, name, message)
        ]
        sections = [
            self._reserved(message, last=NUMBER_MAX, beyond=1),
            self._options(message.options),
            [line for field in self._by_number(plain) for line in self._field(field, message, name)],
            self._oneofs(message, name),
            self._extension_ranges(message),
            self._extensions(message.extension, message, name),
            [line for each in nested for line in self._message(each, name)],
            [line for each in message.enum_type for line in self._enumeration(each)],
        ]
        return [f"{head or f'message {message.name}'} {{", *_indented(_spaced(sections)), "}"]

    def _is_in_oneof(self, field: FieldDescriptorProto) -> bool:
        return field.HasField("oneof_index") and not field.proto3_optional

    def _oneofs(self, message: DescriptorProto, scope: str) -> Lines:
        lines: Lines = []
        members = {index: [] for index in range(len(message.oneof_decl))}  # type: dict[int, list[FieldDescriptorProto]]
        for field in message.field:
            if self._is_in_oneof(field):
                members[field.oneof_index].append(field)
        present = [(index, self._by_number(fields)) for index, fields in members.items() if fields]
        if self.is_normalized:
            present.sort(key=lambda each: each[1][0].number)
        for index, fields in present:
            oneof = message.oneof_decl[index]
            inner = [line for field in fields for line in self._field(field, message, scope)]
            lines += [f"oneof {oneof.name} {{", *_indented([*self._options(oneof.options), *inner]), "}"]
        return lines

    def _field(self, field: FieldDescriptorProto, home: Any, scope: str) -> Lines:
        label, options = self._label(field), self._field_options(field)
        head = f"{label}{self._type(field, home, scope)} {field.name} = {field.number}{options}"
        group = self._group_of(field, home)
        if group is None:
            return [f"{head};"]
        return self._message(group, scope, f"{label}group {group.name} = {field.number}{options}")

    def _label(self, field: FieldDescriptorProto) -> str:
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            return "" if self._entry_of(field) else "repeated "
        if field.label == FieldDescriptorProto.LABEL_REQUIRED:
            return "required "
        is_said = field.proto3_optional or (not self.file.syntax and not field.HasField("oneof_index"))
        return "optional " if is_said else ""

    def _type(self, field: FieldDescriptorProto, home: Any, scope: str) -> str:
        entry = self._entry_of(field)
        if entry is not None:
            key, value = (self._type(part, entry, scope) for part in entry.field)
            return f"map<{key}, {value}>"
        return self._name(field.type_name, scope) if field.type_name else _SCALAR_NAMES[field.type]

    def _entry_of(self, field: FieldDescriptorProto) -> DescriptorProto | None:
        """The entry that a map consists of."""
        return self.entries.get(field.type_name)

    def _group_of(self, field: FieldDescriptorProto, home: Any) -> DescriptorProto | None:
        if field.type != FieldDescriptorProto.TYPE_GROUP or self.file.syntax:
            return None
        nested: Iterable[DescriptorProto] = (
            home.nested_type if isinstance(home, DescriptorProto) else home.message_type
        )
        return next((each for each in nested if each.name == field.type_name.rpartition(".")[2]), None)

    def _is_group(self, message: DescriptorProto, scope: str, home: Any = None) -> bool:
        """Whether a message is written where its field is."""
        fields = (*home.field, *home.extension) if home is not None else self.file.extension
        name = f"{scope}.{message.name}" if scope else message.name
        return not self.file.syntax and any(
            each.type == FieldDescriptorProto.TYPE_GROUP and each.type_name == f".{name}" for each in fields
        )

    def _name(self, full_name: str, scope: str) -> str:
        if not self.has_short_names:
            return full_name
        parts = full_name[1:].split(".")
        for count in range(1, len(parts) + 1):
            short = ".".join(parts[-count:])
            if self.symbols.found(short, scope) == full_name[1:] and parts[-count] not in _WORDS:
                return short
        return full_name

    def _field_options(self, field: FieldDescriptorProto) -> str:
        shown = []
        if field.HasField("default_value"):
            shown.append(f"default = {_default(field)}")
        if field.HasField("json_name") and field.json_name != json_name(field.name) and not field.extendee:
            shown.append(f"json_name = {quoted(field.json_name)}")
        return _bracketed([*shown, *option_texts(field.options, self.pool)])

    def _options(self, options: Any) -> Lines:
        return [f"option {each};" for each in option_texts(options, self.pool)]

    def _by_number(self, declared: Iterable[Any]) -> list[Any]:
        return sorted(declared, key=lambda each: each.number) if self.is_normalized else list(declared)

    def _enumeration(self, enumeration: EnumDescriptorProto) -> Lines:
        values = list(enumeration.value)
        if self.is_normalized:
            # The first one is what fields are that are not set.
            values[1:] = sorted(values[1:], key=lambda value: (value.number, value.name))
        sections = [
            self._reserved(enumeration, last=ENUM_NUMBER_MAX, beyond=0),
            self._options(enumeration.options),
            [
                f"{each.name} = {each.number}{_bracketed(option_texts(each.options, self.pool))};"
                for each in values
            ],
        ]
        return [f"enum {enumeration.name} {{", *_indented(_spaced(sections)), "}"]

    def _reserved(self, home: DescriptorProto | EnumDescriptorProto, *, last: int, beyond: int) -> Lines:
        ranges = [(each.start, each.end - beyond) for each in home.reserved_range]
        names = list(home.reserved_name)
        if self.is_normalized:
            ranges, names = sorted(ranges), sorted(names)
        shown = [_range(start, end, last) for start, end in ranges]
        is_edition = self.file.syntax == "editions"
        shown_names = [name if is_edition else quoted(name) for name in names]
        return [f"reserved {', '.join(each)};" for each in (shown, shown_names) if each]

    def _extension_ranges(self, message: DescriptorProto) -> Lines:
        ranges = list(message.extension_range)
        if self.is_normalized:
            ranges.sort(key=lambda each: each.start)
        return [
            f"extensions {_range(each.start, each.end - 1, NUMBER_MAX)}"
            f"{_bracketed(option_texts(each.options, self.pool))};"
            for each in ranges
        ]

    def _extensions(self, fields: Iterable[FieldDescriptorProto], home: Any, scope: str) -> Lines:
        by_extendee: dict[str, Lines] = {}
        for field in self._by_number(fields):
            by_extendee.setdefault(field.extendee, []).extend(self._field(field, home, scope))
        return [
            line
            for extendee, inner in by_extendee.items()
            for line in (f"extend {self._name(extendee, scope)} {{", *_indented(inner), "}")
        ]

    def _service(self, service: ServiceDescriptorProto) -> Lines:
        scope = f"{self.file.package}.{service.name}" if self.file.package else service.name
        methods = [line for method in service.method for line in self._method(method, scope)]
        inner = _spaced([self._options(service.options), methods])
        return [f"service {service.name} {{", *_indented(inner), "}"]

    def _method(self, method: MethodDescriptorProto, scope: str) -> Lines:
        taken = ("stream " if method.client_streaming else "") + self._name(method.input_type, scope)
        given = ("stream " if method.server_streaming else "") + self._name(method.output_type, scope)
        head, options = f"rpc {method.name} ({taken}) returns ({given})", self._options(method.options)
        return [f"{head} {{", *_indented(options), "}"] if options else [f"{head};"]


def map_entries(file: FileDescriptorProto) -> dict[str, DescriptorProto]:
    """What the maps of a file consist of, by full names with a dot in front."""
    return {
        f".{name}": declared
        for name, declared in declared_types(file)
        if isinstance(declared, DescriptorProto) and declared.options.map_entry
    }


def _default(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_STRING:
        return quoted(field.default_value)
    return (
        f'"{field.default_value}"' if field.type == FieldDescriptorProto.TYPE_BYTES else field.default_value
    )


def _range(start: int, end: int, last: int) -> str:
    if start == end:
        return str(start)
    return f"{start} to {'max' if end >= last else end}"


def _bracketed(options: list[str]) -> str:
    return f" [{', '.join(options)}]" if options else ""


def _spaced(sections: Iterable[Lines]) -> Lines:
    """Sections with an empty line between them."""
    lines: Lines = []
    for section in sections:
        if section:
            lines += ["", *section] if lines else section
    return lines


def _indented(lines: Iterable[str]) -> Lines:
    return [f"  {line}" if line else "" for line in lines]
