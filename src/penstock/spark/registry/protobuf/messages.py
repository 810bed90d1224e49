"""Messages of a Protobuf schema by their names, and by the ways that records give."""

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from penstock.schemas.protobuf.files import MAIN_FILE, load_files, pool_of
from penstock.schemas.protobuf.linking import declared_types
from penstock.schemas.protobuf.parsing import parse_file
from penstock.spark.registry.errors import SchemaUnsupportedError


def message_descriptor(text: str, references: Mapping[str, str], name: str | None = None) -> Descriptor:
    """The message of that full name in a schema, or its first message, in a pool of its own."""
    main = parse_file(text, MAIN_FILE)
    names = message_names(main)
    if not names:
        raise SchemaUnsupportedError(".proto: the schema has no message.")
    wanted = name or next(iter(names))
    if wanted not in names:
        raise SchemaUnsupportedError(f".proto: there is no message {wanted!r}; there are {', '.join(names)}.")
    files = load_files(main, references)
    for file in files.values():
        _refuse_groups(file)
    return pool_of(files).FindMessageTypeByName(wanted)


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


def _refuse_groups(file: FileDescriptorProto) -> None:
    for name, declared in declared_types(file):
        if isinstance(declared, DescriptorProto) and any(
            field.type == FieldDescriptorProto.TYPE_GROUP for field in declared.field
        ):
            raise SchemaUnsupportedError(f".proto: {name} has a group, which is not read; use a message.")
