"""A Protobuf schema as ``penstock.schemas`` keeps it: its file, those it imports, and its texts."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.incompatibility import Incompatibility
from penstock.schemas.protobuf.compatibility import protobuf_incompatibilities
from penstock.schemas.protobuf.custom_options import interpret
from penstock.schemas.protobuf.files import MAIN_FILE, load_files, pool_of
from penstock.schemas.protobuf.linking import Symbols, seen_files
from penstock.schemas.protobuf.parsing import parse_file, serialized_file
from penstock.schemas.protobuf.texts import TextWriter, map_entries
from penstock.schemas.protobuf.validation import validate


def protobuf_content(text: str, resolved: Mapping[str, str]) -> "ProtobufContent":
    """A valid file with all that it imports."""
    main = parse_file(text, MAIN_FILE)
    if not (main.message_type or main.enum_type or main.extension or main.service):
        raise InvalidSchema(".proto: the schema declares nothing; a message at least is missing.")
    files = load_files(main, resolved)
    validate(main)
    pool = pool_of(files)
    symbols = Symbols(seen_files(main, files))
    interpret(main, pool, symbols)
    given = "" if serialized_file(text) is not None else text
    return ProtobufContent(files=files, pool=pool, symbols=symbols, given=given)


@dataclass(frozen=True, kw_only=True)
class ProtobufContent:
    """A valid .proto file."""

    files: Mapping[str, FileDescriptorProto]
    pool: DescriptorPool
    symbols: Symbols
    given: str
    """The text as it came, with its comments; nothing if it came as a descriptor."""

    @property
    def main(self) -> FileDescriptorProto:
        """The file itself."""
        return self.files[MAIN_FILE]

    @cached_property
    def text(self) -> str:
        """As it was given, since comments are worth keeping; written anew if it came as a descriptor."""
        return self.given or self._written(has_short_names=True)

    @cached_property
    def identity(self) -> str:
        """Without comments, and with full names: the same for a text and for the descriptor made of it."""
        return self._written()

    @cached_property
    def normalized_text(self) -> str:
        """With fields in the order of their numbers."""
        return self._written(is_normalized=True)

    def formatted_text(self, form: str) -> str:
        """``serialized`` is the descriptor in base 64."""
        if form != "serialized":
            return self.text
        return base64.b64encode(self.main.SerializeToString(deterministic=True)).decode()

    def incompatibilities(self, writer: "ProtobufContent") -> list[Incompatibility]:
        """Field by field, by their numbers."""
        return protobuf_incompatibilities(reader=self.files, writer=writer.files)

    def _written(self, *, is_normalized: bool = False, has_short_names: bool = False) -> str:
        writer = TextWriter(
            file=self.main,
            pool=self.pool,
            symbols=self.symbols,
            entries=map_entries(self.main),
            is_normalized=is_normalized,
            has_short_names=has_short_names,
        )
        return writer.text()
