"""A schema's files as descriptors: its own, those it refers to, and those that everybody has.

Google's well-known types come with the runtime, ``google/type`` with the package googleapis-common-protos
if it is installed. Of Confluent's own imports, which registries never list as references, the annotations
change no byte and are left empty.
"""

import importlib
from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from penstock.spark.registry.errors import SchemaUnsupportedError
from penstock.spark.registry.protobuf.parsing import parse_file

MAIN_FILE = "default.proto"
CONFLUENT_FILES = {
    "confluent/meta.proto": 'syntax = "proto3"; package confluent;',
    "confluent/type/decimal.proto": """
        syntax = "proto3"; package confluent.type;
        message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
    """,
    "confluent/type/variant.proto": """
        syntax = "proto3"; package confluent.type;
        message Variant { bytes metadata = 1; bytes value = 2; }
    """,
    "confluent/types/decimal.proto": 'syntax = "proto3"; import public "confluent/type/decimal.proto";',
}


def message_descriptor(text: str, references: Mapping[str, str], name: str | None = None) -> Descriptor:
    """The message of that full name in a schema, or its first message, in a pool of its own."""
    main = parse_file(text, MAIN_FILE)
    names = message_names(main)
    if not names:
        raise SchemaUnsupportedError(".proto: the schema has no message.")
    wanted = name or next(iter(names))
    if wanted not in names:
        raise SchemaUnsupportedError(f".proto: there is no message {wanted!r}; there are {', '.join(names)}.")
    pool = DescriptorPool()
    _Files(pool, references).add(main)
    return pool.FindMessageTypeByName(wanted)


def message_names(file: FileDescriptorProto) -> dict[str, tuple[int, ...]]:
    """The full names of all messages of a file with the way to each, those of maps' entries left out."""
    found: dict[str, tuple[int, ...]] = {}
    for index, message in enumerate(file.message_type):
        name = f"{file.package}.{message.name}" if file.package else message.name
        _collect(message, name, (index,), found)
    return found


def names_at(file: FileDescriptorProto, way: tuple[int, ...]) -> set[str]:
    """The full names of the message that a way of indexes may mean: two where clients count differently.

    The Java client counts the messages that stand in the text; others count the entries of maps too, which a
    descriptor has among the nested messages.
    """
    by_text = {written_way(file, found): name for name, found in message_names(file).items()}
    by_descriptor = {found: name for name, found in message_names(file).items()}
    return {names[way] for names in (by_text, by_descriptor) if way in names}


def written_way(file: FileDescriptorProto, way: tuple[int, ...]) -> tuple[int, ...]:
    """A way through a descriptor as the Java client counts it, without the entries of maps."""
    message = file.message_type[way[0]]
    written = [way[0]]
    for index in way[1:]:
        entries = sum(nested.options.map_entry for nested in message.nested_type[:index])
        written.append(index - entries)
        message = message.nested_type[index]
    return tuple(written)


def _collect(
    message: DescriptorProto, name: str, way: tuple[int, ...], found: dict[str, tuple[int, ...]]
) -> None:
    found[name] = way
    for index, nested in enumerate(message.nested_type):
        if not nested.options.map_entry:
            _collect(nested, f"{name}.{nested.name}", (*way, index), found)


class _Files:
    """Adds files to a pool, each after those it imports."""

    def __init__(self, pool: DescriptorPool, references: Mapping[str, str]) -> None:
        self._pool = pool
        self._references = references
        self._added: set[str] = set()

    def add(self, file: FileDescriptorProto) -> None:
        """One file and all that it imports."""
        self._added.add(file.name)
        for name in file.dependency:
            if name not in self._added:
                self.add(self._imported(name, file.name))
        try:
            self._pool.Add(file)
        except TypeError as error:
            raise SchemaUnsupportedError(f".proto {file.name}: {error}") from error

    def _imported(self, name: str, importer: str) -> FileDescriptorProto:
        if name in self._references:
            return parse_file(self._references[name], name)
        if name in CONFLUENT_FILES:
            return parse_file(CONFLUENT_FILES[name], name)
        if name.startswith(("google/protobuf/", "google/type/")):
            return _of_google(name)
        raise SchemaUnsupportedError(f".proto {importer} imports {name!r}, which is none of its references.")


def _of_google(name: str) -> FileDescriptorProto:
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    try:
        descriptor = importlib.import_module(module).DESCRIPTOR
    except ImportError as error:
        raise SchemaUnsupportedError(
            f".proto: import {name!r} needs a Python package with it: pip install googleapis-common-protos"
        ) from error
    file = FileDescriptorProto()
    descriptor.CopyToProto(file)
    return file
