"""The text of a .proto file into its descriptor: proto2, proto3 and editions.

``declarations`` reads what is in a file, ``options`` its options, ``linking`` finds the types that names
mean. Comments, and where things stood, are left out.
"""

import base64
import binascii

from google.protobuf.descriptor_pb2 import Edition, FileDescriptorProto
from google.protobuf.message import DecodeError

from penstock.schemas.errors import InvalidSchema
from penstock.schemas.protobuf.declarations import DeclarationParser
from penstock.schemas.protobuf.tokens import Reader

_SYNTAXES = ("proto2", "proto3")


def parse_file(text: str, name: str = "default.proto") -> FileDescriptorProto:
    """The descriptor of a file, from its text or from a descriptor in base 64: registries give both."""
    descriptor = serialized_file(text)
    if descriptor is not None:
        descriptor.name = name
        return descriptor
    return _FileParser(text, name).parse()


def serialized_file(text: str) -> FileDescriptorProto | None:
    """The descriptor that a text is in base 64, if it is one."""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
        return FileDescriptorProto.FromString(data) if data else None
    except (binascii.Error, DecodeError, ValueError):
        return None


class _FileParser:
    def __init__(self, text: str, name: str) -> None:
        self._words = Reader(text)
        self._file = FileDescriptorProto(name=name)
        self._declarations = DeclarationParser(self._words)

    def parse(self) -> FileDescriptorProto:
        while not self._words.is_at_end():
            self._statement()
        return self._file

    def _statement(self) -> None:
        words, file, declarations = self._words, self._file, self._declarations
        line = words.line()
        word = words.take().text
        if word in ("export", "local") and words.peek() in ("message", "enum"):
            word = words.take().text
        match word:
            case ";":
                pass
            case "syntax" | "edition":
                self._syntax(word)
            case "package":
                file.package = words.name()
                words.expect(";")
            case "import":
                self._import()
            case "option":
                declarations.option(file.options)
            case "message":
                declarations.message(file.message_type.add())
            case "enum":
                declarations.enumeration(file.enum_type.add())
            case "service":
                declarations.service(file.service.add())
            case "extend":
                declarations.extensions_of(file.extension.add, file)
            case _:
                raise InvalidSchema(f".proto, line {line}: {word!r} begins no statement of a file.")

    def _syntax(self, word: str) -> None:
        line = self._words.line()
        self._words.expect("=")
        value = self._words.string()
        self._words.expect(";")
        if word == "syntax":
            self._set_syntax(value, line)
            return
        self._file.syntax = "editions"
        try:
            self._file.edition = Edition.Value(f"EDITION_{value}")
        except ValueError:
            raise InvalidSchema(f".proto, line {line}: there is no edition {value!r}.") from None

    def _set_syntax(self, value: str, line: int) -> None:
        if value not in _SYNTAXES:
            raise InvalidSchema(
                f".proto, line {line}: the syntax {value!r} is none of {', '.join(_SYNTAXES)}."
            )
        self._declarations.is_proto3 = value == "proto3"
        if value == "proto3":  # proto2 is what a file is that says nothing, and is left out of descriptors.
            self._file.syntax = value

    def _import(self) -> None:
        kind = self._words.take_if("public", "weak", "option")
        name = self._words.string()
        self._words.expect(";")
        if kind in ("public", "weak"):
            indexes = self._file.public_dependency if kind == "public" else self._file.weak_dependency
            indexes.append(len(self._file.dependency))
        self._file.dependency.append(name)
