"""A schema's files as descriptors: its own, those it refers to, and those that everybody has.

Google's well-known types come with the runtime, ``google/type`` with the package googleapis-common-protos
if it is installed. Confluent's own imports, which registries never list as references, are spelt here.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.linking import link
from penstock.schemas.protobuf.parsing import parse_file

MAIN_FILE = "default.proto"
CONFLUENT_FILES = {
    "confluent/meta.proto": """
        syntax = "proto3"; package confluent;
        import "google/protobuf/descriptor.proto";
        message Meta {
          string doc = 1; map<string, string> params = 2; repeated string tags = 3; repeated Rule rules = 4;
        }
        message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
        extend google.protobuf.FileOptions { Meta file_meta = 1088; }
        extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
        extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
        extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
        extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
    """,
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


def load_files(main: FileDescriptorProto, references: Mapping[str, str]) -> dict[str, FileDescriptorProto]:
    """A file and all that it imports, by name, each after those it imports itself; names are full ones."""
    loader = _Loader(references)
    loader.load(main)
    return loader.files


def pool_of(files: Mapping[str, FileDescriptorProto]) -> DescriptorPool:
    """A pool of their own for files; whatever they get wrong with one another is found here."""
    pool = DescriptorPool()
    for file in files.values():
        bare = FileDescriptorProto()
        bare.CopyFrom(file)
        _drop_custom_options(bare)
        try:
            pool.Add(bare)
        except TypeError as error:
            raise InvalidSchema(f".proto {file.name}: {error}") from error
    return pool


class _Loader:
    """Loads files, each after those it imports."""

    def __init__(self, references: Mapping[str, str]) -> None:
        self._references = references
        self._under_way: list[str] = []
        self.files: dict[str, FileDescriptorProto] = {}

    def load(self, file: FileDescriptorProto) -> None:
        """One file and all that it imports."""
        self._under_way.append(file.name)
        for name in file.dependency:
            if name in self._under_way:
                way = " > ".join([*self._under_way[self._under_way.index(name) :], name])
                raise InvalidSchema(f".proto: files import each other in a circle: {way}.")
            if name not in self.files:
                self.load(self._imported(name, file.name))
        link(file, self.files)
        self.files[file.name] = file
        self._under_way.pop()

    def _imported(self, name: str, importer: str) -> FileDescriptorProto:
        if name in self._references:
            return parse_file(self._references[name], name)
        if name in CONFLUENT_FILES:
            return parse_file(CONFLUENT_FILES[name], name)
        if name.startswith(("google/protobuf/", "google/type/")):
            return _of_google(name)
        raise InvalidSchema(f".proto {importer} imports {name!r}, which is none of its references.")


def _of_google(name: str) -> FileDescriptorProto:
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    if not all(part.isidentifier() for part in module.split(".")):
        raise InvalidSchema(f".proto: there is no file {name!r} of Google's.")
    try:
        descriptor = importlib.import_module(module).DESCRIPTOR
    except ImportError as error:
        raise InvalidSchema(
            f".proto: import {name!r} needs a Python package with it: pip install googleapis-common-protos"
        ) from error
    file = FileDescriptorProto()
    descriptor.CopyToProto(file)
    return file


def _drop_custom_options(message: Any) -> None:
    for field, value in message.ListFields():
        if field.name == "uninterpreted_option":
            message.ClearField(field.name)
        elif field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                _drop_custom_options(each)
