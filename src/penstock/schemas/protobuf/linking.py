"""Which types the names in a .proto file mean, found as protoc does: from inside a scope outwards.

What can be seen is a file's own types, those of the files it imports, and those that these import publicly.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from penstock.schemas.errors import InvalidSchema

MESSAGE, ENUMERATION, PACKAGE = "message", "enum", "package"


class Symbols:
    """The full names that a file sees, and what each is."""

    def __init__(self, files: Iterable[FileDescriptorProto]) -> None:
        self._kinds: dict[str, str] = {}
        self.extensions: set[str] = set()
        for file in files:
            self._add_file(file)

    def kind(self, full_name: str) -> str:
        """What a full name is the name of; nothing if of nothing."""
        return self._kinds.get(full_name, "")

    def found(self, name: str, scope: str) -> str | None:
        """The full name of the type that a name means inside a scope."""
        if name.startswith("."):
            return name[1:] if self.kind(name[1:]) in (MESSAGE, ENUMERATION) else None
        first, dot, _ = name.partition(".")
        for outer in _outwards(scope):
            if not self.kind(_joined(outer, first)):
                continue
            full_name = _joined(outer, name)
            if self.kind(full_name) in (MESSAGE, ENUMERATION):
                return full_name
            if dot:
                return None  # What the first part means here hides what it means further out.
        return None

    def found_extension(self, name: str, scope: str) -> str | None:
        """The full name of the extension that a name means inside a scope."""
        if name.startswith("."):
            return name[1:] if name[1:] in self.extensions else None
        return next((_joined(o, name) for o in _outwards(scope) if _joined(o, name) in self.extensions), None)

    def _add_file(self, file: FileDescriptorProto) -> None:
        parts = file.package.split(".") if file.package else []
        for count in range(1, len(parts) + 1):
            self._kinds.setdefault(".".join(parts[:count]), PACKAGE)
        for name, declared in declared_types(file):
            self._kinds[name] = MESSAGE if isinstance(declared, DescriptorProto) else ENUMERATION
        for scope, field in _extensions(file):
            self.extensions.add(_joined(scope, field.name))


def declared_types(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto | EnumDescriptorProto]]:
    """All messages and enumerations of a file with their full names, outer ones first."""
    outer: list[DescriptorProto | EnumDescriptorProto] = [*file.message_type, *file.enum_type]
    waiting = deque((_joined(file.package, each.name), each) for each in outer)
    while waiting:
        name, declared = waiting.popleft()
        yield name, declared
        if isinstance(declared, DescriptorProto):
            inner: list[DescriptorProto | EnumDescriptorProto] = [*declared.nested_type, *declared.enum_type]
            waiting += [(f"{name}.{each.name}", each) for each in inner]


def link(file: FileDescriptorProto, visible: Mapping[str, FileDescriptorProto]) -> Symbols:
    """Give every field of a file the full name and the kind of its type; ``visible`` are files by name."""
    symbols = Symbols(seen_files(file, visible))
    for scope, field in _fields(file):
        _link_field(field, scope, symbols)
    for service in file.service:
        scope = _joined(file.package, service.name)
        for method in service.method:
            method.input_type = _linked(method.input_type, scope, symbols)
            method.output_type = _linked(method.output_type, scope, symbols)
    return symbols


def seen_files(
    file: FileDescriptorProto, visible: Mapping[str, FileDescriptorProto]
) -> list[FileDescriptorProto]:
    """A file, what it imports, and what that imports publicly."""
    seen = {file.name: file}
    waiting = list(file.dependency)
    while waiting:
        name = waiting.pop()
        if name not in seen and name in visible:
            seen[name] = visible[name]
            waiting += [visible[name].dependency[index] for index in visible[name].public_dependency]
    return list(seen.values())


def _link_field(field: FieldDescriptorProto, scope: str, symbols: Symbols) -> None:
    if field.extendee:
        field.extendee = _linked(field.extendee, scope, symbols)
    if field.type_name:
        field.type_name = _linked(field.type_name, scope, symbols)
        if field.type != FieldDescriptorProto.TYPE_GROUP:
            is_enum = symbols.kind(field.type_name[1:]) == ENUMERATION
            field.type = FieldDescriptorProto.TYPE_ENUM if is_enum else FieldDescriptorProto.TYPE_MESSAGE


def _linked(name: str, scope: str, symbols: Symbols) -> str:
    found = symbols.found(name, scope)
    if found is None:
        raise InvalidSchema(
            f".proto: {name!r} in {scope or 'the file'} is no type that is declared or imported; import"
            " its file and"
            " give that as a reference."
        )
    return f".{found}"


def _fields(file: FileDescriptorProto) -> Iterator[tuple[str, FieldDescriptorProto]]:
    """All fields and extensions, each with the scope in which its names are looked for."""
    for name, declared in declared_types(file):
        if isinstance(declared, DescriptorProto):
            yield from ((name, field) for field in (*declared.field, *declared.extension))
    yield from ((file.package, field) for field in file.extension)


def _extensions(file: FileDescriptorProto) -> Iterator[tuple[str, FieldDescriptorProto]]:
    return ((scope, field) for scope, field in _fields(file) if field.extendee)


def _outwards(scope: str) -> Iterator[str]:
    while scope:
        yield scope
        scope = scope.rpartition(".")[0]
    yield ""


def _joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name
