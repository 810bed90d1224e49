"""Descriptors of .proto texts are those of protoc, and texts made of them mean the same to it."""

import base64
from importlib import resources

import pytest
from tests.schemas.protobuf.corpus import CORPUS, IMPORTS
from tests.schemas.protobuf.protoc import compiled

from penstock.schemas import ParsedSchema, SchemaKind, formatted_text, parse
from penstock.schemas.protobuf.content import ProtobufContent
from penstock.schemas.protobuf.files import load_files
from penstock.schemas.protobuf.parsing import parse_file

WELL_KNOWN = ["descriptor", "type", "api", "struct", "wrappers", "any", "timestamp"]


def parsed(text: str) -> ParsedSchema:
    return parse(SchemaKind.PROTOBUF, text, resolve=IMPORTS)


def content(schema: ParsedSchema) -> ProtobufContent:
    assert isinstance(schema.content, ProtobufContent)
    return schema.content


@pytest.mark.parametrize("name", CORPUS)
def test_descriptor_is_that_of_protoc(name: str) -> None:
    assert content(parsed(CORPUS[name])).main == compiled(CORPUS[name], IMPORTS)


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_descriptor_of_a_well_known_file_is_that_of_protoc(name: str) -> None:
    name = f"google/protobuf/{name}.proto"
    text = resources.files("grpc_tools").joinpath(f"_proto/{name}").read_text()
    assert load_files(parse_file(text, name), {})[name] == compiled(text, name=name)


@pytest.mark.parametrize("name", CORPUS)
def test_text_written_anew_is_the_same_to_protoc(name: str) -> None:
    serialized = formatted_text(parsed(CORPUS[name]), "serialized")
    again = parsed(serialized)
    assert again.text != serialized
    written = compiled(again.text, IMPORTS)
    assert parsed(base64.b64encode(written.SerializeToString()).decode()).canonical() == again.canonical()


@pytest.mark.parametrize("name", CORPUS)
def test_text_and_descriptor_are_one_schema(name: str) -> None:
    as_text = parsed(CORPUS[name])
    as_descriptor = parsed(base64.b64encode(compiled(CORPUS[name], IMPORTS).SerializeToString()).decode())
    assert as_text.canonical() == as_descriptor.canonical()
    assert as_text.canonical(normalize=True) == as_descriptor.canonical(normalize=True)
    assert as_text.text == CORPUS[name]


@pytest.mark.parametrize("name", CORPUS)
def test_normalized_text_is_normal_and_known_to_protoc(name: str) -> None:
    normal = content(parsed(CORPUS[name])).normalized_text
    assert content(parsed(normal)).normalized_text == normal
    compiled(normal, IMPORTS)


def test_short_names_are_those_a_person_would_write() -> None:
    text = parsed(formatted_text(parsed(CORPUS["proto3"]), "serialized")).text
    assert "  repeated Line lines = 2;" in text
    assert "  v1.message message = 1;" in text  # "message message = 1" would begin a message.
    assert "    google.protobuf.StringValue wrapped = 10;" in text
    assert '(my.options.words) = "a", (my.options.words) = "b"' in text
