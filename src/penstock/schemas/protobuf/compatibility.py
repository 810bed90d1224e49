"""Whether records of one Protobuf schema can be read with another: field by field, by their numbers.

The rules are those of Confluent's registry, and stricter in two places where records would be read wrongly
without an error: a number that is repeated on one side only, and a field that only the reader requires.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from penstock.schemas.incompatibility import Incompatibility
from penstock.schemas.protobuf.declarations import SCALARS
from penstock.schemas.protobuf.files import MAIN_FILE
from penstock.schemas.protobuf.linking import declared_types

Files = Mapping[str, FileDescriptorProto]
Found = list[Incompatibility]
_REQUIRED, _REPEATED = FieldDescriptorProto.LABEL_REQUIRED, FieldDescriptorProto.LABEL_REPEATED
_TYPE_NAMES = {number: name for name, number in SCALARS.items()}
_GROUPS = (
    ("int32", "int64", "uint32", "uint64", "bool", "enum"),
    ("sint32", "sint64"),
    ("string", "bytes"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("float",),
    ("double",),
)
"""Types whose bytes are read alike."""


def protobuf_incompatibilities(*, reader: Files, writer: Files) -> Found:
    """Every place where a reader would lose or mistake what was written."""
    return _Comparison(reader=_Types(reader), writer=_Types(writer)).compare()


class _Types:
    """All messages of a schema and of what it imports, by their full names."""

    def __init__(self, files: Files) -> None:
        self.main = files[MAIN_FILE]
        self.messages: dict[str, DescriptorProto] = {}
        self.packages: dict[str, str] = {}
        for file in files.values():
            for name, declared in declared_types(file):
                self.packages[name] = file.package
                if isinstance(declared, DescriptorProto):
                    self.messages[name] = declared

    def local_name(self, full_name: str) -> str:
        """The name of a type without its package: packages may differ between versions of an import."""
        package = self.packages.get(full_name, "")
        return full_name.removeprefix(f"{package}.") if package else full_name

    def entry_of(self, each: FieldDescriptorProto) -> DescriptorProto | None:
        """The key and the value that a map's field consists of."""
        found = self.messages.get(each.type_name[1:]) if each.type_name else None
        return found if found is not None and found.options.map_entry else None


@dataclass(slots=True, kw_only=True)
class _Comparison:
    reader: _Types
    writer: _Types
    seen: dict[tuple[str, str], Found] = field(default_factory=dict)

    def compare(self) -> Found:
        """The two files."""
        reader, writer = self.reader.main, self.writer.main
        found: Found = []
        if reader.package != writer.package:
            found.append(_package_changed(reader.package, writer.package))
        found += self._messages(
            reader.message_type,
            writer.message_type,
            reader_scope=reader.package,
            writer_scope=writer.package,
            path="#",
        )
        return list(dict.fromkeys(found))

    def _messages(
        self,
        readers: Iterable[DescriptorProto],
        writers: Iterable[DescriptorProto],
        *,
        reader_scope: str,
        writer_scope: str,
        path: str,
    ) -> Found:
        by_name = {each.name: each for each in readers}
        found: Found = []
        for each in writers:
            here = f"{path}/{each.name}"
            if each.options.map_entry:
                continue
            if each.name not in by_name:
                found.append(_message_removed(each.name, here))
                continue
            names = _joined(reader_scope, each.name), _joined(writer_scope, each.name)
            found += self._message(names, here)
        return found

    def _message(self, names: tuple[str, str], path: str) -> Found:
        """Two messages by their full names, the reader's first, and all within them."""
        if names in self.seen:
            return self.seen[names][:1]  # All of them have been told; the first says that there are some.
        self.seen[names] = []
        reader, writer = self.reader.messages[names[0]], self.writer.messages[names[1]]
        found = _oneof_changes(reader, writer, path)
        readers = {each.number: each for each in reader.field}
        writers = {each.number: each for each in writer.field}
        deleted = _deleted_oneofs(reader, writer)
        for number in sorted(readers.keys() | writers.keys()):
            here = f"{path}/{number}"
            if number not in readers:
                found += _field_removed(writers[number], writer, deleted, here)
            elif number not in writers:
                found += _field_added(readers[number], here)
            else:
                found += self._field(readers[number], writers[number], here)
        found += self._messages(
            reader.nested_type, writer.nested_type, reader_scope=names[0], writer_scope=names[1], path=path
        )
        self.seen[names] = found
        return found

    def _field(self, reader: FieldDescriptorProto, writer: FieldDescriptorProto, path: str) -> Found:
        reader_entry, writer_entry = self.reader.entry_of(reader), self.writer.entry_of(writer)
        if reader_entry is not None and writer_entry is not None:
            pairs = zip(reader_entry.field, writer_entry.field, strict=True)
            return [each for one, other in pairs for each in self._types(one, other, path)]
        if _kind(reader, reader_entry) != _kind(writer, writer_entry):
            return [_kind_changed(reader, writer, path)]
        return self._types(reader, writer, path) or _labels(reader, writer, path)

    def _types(self, reader: FieldDescriptorProto, writer: FieldDescriptorProto, path: str) -> Found:
        if _kind(reader) != _kind(writer):
            return [_kind_changed(reader, writer, path)]
        if _kind(reader) == "scalar":
            return [] if _group(reader) == _group(writer) else [_scalar_changed(reader, writer, path)]
        names = reader.type_name[1:], writer.type_name[1:]
        if self.reader.local_name(names[0]) != self.writer.local_name(names[1]):
            return [_named_type_changed(reader, writer, path)]
        inner = self._message(names, f"{path}/{names[0].rpartition('.')[2]}")
        return [*inner, _inner_type_changed(reader, path)] if inner else []


def _joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _kind(each: FieldDescriptorProto, entry: DescriptorProto | None = None) -> str:
    if entry is not None:
        return "map"
    if each.type == FieldDescriptorProto.TYPE_GROUP:
        return "group"
    return "message" if each.type == FieldDescriptorProto.TYPE_MESSAGE else "scalar"


def _type_word(each: FieldDescriptorProto) -> str:
    if each.type_name:
        return "enum" if each.type == FieldDescriptorProto.TYPE_ENUM else each.type_name[1:]
    return _TYPE_NAMES[each.type]


def _group(each: FieldDescriptorProto) -> tuple[str, ...]:
    return next(group for group in _GROUPS if _type_word(each) in group)


def _oneof_names(message: DescriptorProto) -> dict[int, str]:
    """The oneof of each field's number; those that proto3's optional fields are alone in do not count."""
    return {
        each.number: message.oneof_decl[each.oneof_index].name
        for each in message.field
        if each.HasField("oneof_index") and not each.proto3_optional
    }


def _deleted_oneofs(reader: DescriptorProto, writer: DescriptorProto) -> set[str]:
    """Oneofs of which nothing is left: nobody can mistake one of their fields for another."""
    numbers = {each.number for each in reader.field}
    kept = {name for number, name in _oneof_names(writer).items() if number in numbers}
    return set(_oneof_names(writer).values()) - kept - set(_oneof_names(reader).values())


def _oneof_changes(reader: DescriptorProto, writer: DescriptorProto, path: str) -> Found:
    """Fields that could be set together when they were written, and exclude each other for the reader."""
    written = {each.number for each in writer.field}
    before, now = _oneof_names(writer), _oneof_names(reader)
    found: Found = []
    for name in dict.fromkeys(now.values()):
        numbers = [number for number, oneof in now.items() if oneof == name and number in written]
        origins = {before.get(number, number) for number in numbers}
        moved = [number for number in numbers if number not in before]
        if len(origins) > 1:
            kind = "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if len(moved) > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF"
            found.append(_moved_into_oneof(reader, name, numbers=numbers, kind=kind, path=f"{path}/{name}"))
    return found


def _field_removed(
    each: FieldDescriptorProto, message: DescriptorProto, deleted: set[str], path: str
) -> Found:
    oneof = _oneof_names(message).get(each.number)
    if oneof is not None and oneof not in deleted:
        reason = f"field {each.name!r} is gone from oneof {oneof!r}, so it is no longer seen that it was set"
        return [_reason("ONEOF_FIELD_REMOVED", path, f"{reason}; keep it, or remove the whole oneof")]
    if each.label == _REQUIRED:
        reason = f"required field {each.name!r} is gone; keep it, or make it optional first"
        return [_reason("REQUIRED_FIELD_REMOVED", path, reason)]
    return []


def _field_added(each: FieldDescriptorProto, path: str) -> Found:
    if each.label != _REQUIRED:
        return []
    reason = f"required field {each.name!r} is new, and records without it cannot be read; make it optional"
    return [_reason("REQUIRED_FIELD_ADDED", path, reason)]


def _labels(reader: FieldDescriptorProto, writer: FieldDescriptorProto, path: str) -> Found:
    if reader.label == writer.label:
        return []
    if reader.label == _REQUIRED:
        reason = f"field {reader.name!r} is required by the reader alone; make it optional"
        return [_reason("REQUIRED_FIELD_ADDED", path, reason)]
    is_numeric = _kind(reader) == "scalar" and "string" not in _group(reader)
    if not is_numeric:
        return []
    reason = (
        f"field {reader.name!r} is {_label_word(writer)} when written and {_label_word(reader)} when"
        " read, which numbers"
        " cannot be; keep it, or use a new field number"
    )
    return [_reason("FIELD_NUMERIC_LABEL_CHANGED", path, reason)]


def _label_word(each: FieldDescriptorProto) -> str:
    return {_REQUIRED: "required", _REPEATED: "repeated"}.get(each.label, "single")


def _reason(kind: str, path: str, message: str) -> Incompatibility:
    return Incompatibility(kind=kind, path=path, message=f"{message}.")


def _package_changed(reader: str, writer: str) -> Incompatibility:
    reason = (
        f"the package is {reader!r} and was {writer!r}, so all messages have other names; keep the package"
    )
    return _reason("PACKAGE_CHANGED", "#", reason)


def _message_removed(name: str, path: str) -> Incompatibility:
    reason = f"message {name!r} is gone, and its records can no longer be read; keep it"
    return _reason("MESSAGE_REMOVED", path, reason)


def _kind_changed(reader: FieldDescriptorProto, writer: FieldDescriptorProto, path: str) -> Incompatibility:
    reason = (
        f"field {reader.name!r} was {_type_word(writer)} and is {_type_word(reader)}, another kind of type"
    )
    return _reason("FIELD_KIND_CHANGED", path, f"{reason}; use a new field number")


def _scalar_changed(reader: FieldDescriptorProto, writer: FieldDescriptorProto, path: str) -> Incompatibility:
    others = ", ".join(name for name in _group(writer) if name != _type_word(writer))
    advice = f"keep it, or take one of {others}" if others else "keep it"
    reason = (
        f"field {reader.name!r} was {_type_word(writer)} and is {_type_word(reader)}, whose bytes are others"
    )
    return _reason("FIELD_SCALAR_KIND_CHANGED", path, f"{reason}; {advice}, or use a new field number")


def _named_type_changed(
    reader: FieldDescriptorProto, writer: FieldDescriptorProto, path: str
) -> Incompatibility:
    reason = (
        f"field {reader.name!r} was {_type_word(writer)} and is {_type_word(reader)}; use a new field number"
    )
    return _reason("FIELD_NAMED_TYPE_CHANGED", path, reason)


def _inner_type_changed(reader: FieldDescriptorProto, path: str) -> Incompatibility:
    reason = f"the type of field {reader.name!r}, {_type_word(reader)}, has changed incompatibly"
    return _reason("FIELD_NAMED_TYPE_CHANGED", path, reason)


def _moved_into_oneof(
    message: DescriptorProto, oneof: str, *, numbers: list[int], kind: str, path: str
) -> Incompatibility:
    names = [each.name for each in message.field if each.number in numbers]
    reason = f"fields {', '.join(names)} could be set together and exclude each other now in oneof {oneof!r}"
    return _reason(kind, path, f"{reason}; leave them out of it, or make a oneof of new fields")
