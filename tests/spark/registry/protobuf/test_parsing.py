""".proto texts into descriptors, compared with those of protoc."""

import base64
from importlib import resources
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from tests.spark.registry.protobuf.proto_samples import ALL_KINDS, PROTO2
from tests.spark.registry.stand_in import compile_proto

from penstock.spark.registry.errors import SchemaUnsupportedError
from penstock.spark.registry.protobuf.parsing import parse_file

ODD = r"""
/* A comment { with a brace. */
edition = "2023";
package odd.name;
import public "google/protobuf/any.proto";
option java_package = "a.b";
option features.field_presence = IMPLICIT;
option (custom) = { a: "}" b: [1, 2] };
extend google.protobuf.FieldOptions { string custom_field = 50001; }
service Search {
  rpc Find (Query) returns (stream Query) { option (x) = "y"; }
  rpc Other (Query) returns (Query);
}
;
message Query {
  option deprecated = true;
  reserved 5, 7 to 9, 100 to 200;
  reserved gone;
  extensions 1000 to 1999 [declaration = { number: 1000 }];
  string message = 0x1 [(custom_field) = "a,b]", json_name = "other", deprecated = true];
  .odd.name.Query.Enum enum = 2 [features.field_presence = EXPLICIT];
  google.protobuf.Any option = 03;
  oneof oneof { option (x) = 1; ; int32 reserved = 4; bool map = 6; }
  map < string , Query.Enum > snake_case_map = 10 [deprecated = true];
  repeated int32 loose = 11 [features.repeated_field_encoding = EXPANDED];
  enum Enum {
    option allow_alias = true;
    reserved 4, 10 to 20;
    FIRST = 0; B = -1 [deprecated = true, (x) = { y: 1 }]; ALSO_B = -1;
  }
  message Nested { message Deeper { Enum e = 1; } }
  extend Query { bool ext = 1500; }
}
"""
ODD_FOR_PROTOC = (
    ODD.replace('option (custom) = { a: "}" b: [1, 2] };', "")
    .replace("option (x) = 1; ;", "")
    .replace('{ option (x) = "y"; }', "{}")
    .replace(", (x) = { y: 1 }", "")
    .replace("[declaration = { number: 1000 }]", "")
    .replace("import public", 'import "google/protobuf/descriptor.proto";\nimport public')
    .replace("import public", "import")
    .replace(" [(custom_field)", " [(odd.name.custom_field)")
)


def bare(file: FileDescriptorProto) -> FileDescriptorProto:
    """What changes the bytes of messages; types' names without the part that protoc adds to them."""
    kept = FileDescriptorProto(
        package=file.package, syntax=file.syntax.replace("proto2", ""), edition=file.edition
    )
    if file.options.HasField("features"):
        kept.options.features.CopyFrom(file.options.features)
    for message in file.message_type:
        _keep_message(message, kept.message_type.add())
    for enumeration in file.enum_type:
        _keep_enumeration(enumeration, kept.enum_type.add())
    return kept


def _keep_message(message: DescriptorProto, kept: DescriptorProto) -> None:
    kept.name = message.name
    kept.options.map_entry = message.options.map_entry
    kept.oneof_decl.extend([type(oneof)(name=oneof.name) for oneof in message.oneof_decl])
    for field in message.field:
        copy: Any = kept.field.add()
        copy.CopyFrom(field)
        for name in ("json_name", "default_value", "options"):
            copy.ClearField(name)
        if field.options.HasField("packed"):
            copy.options.packed = field.options.packed
        if field.options.HasField("features"):
            copy.options.features.CopyFrom(field.options.features)
        if field.type_name:
            copy.ClearField("type")
            copy.type_name = field.type_name.rpartition(".")[2]
    for nested in message.nested_type:
        _keep_message(nested, kept.nested_type.add())
    for enumeration in message.enum_type:
        _keep_enumeration(enumeration, kept.enum_type.add())


def _keep_enumeration(enumeration: EnumDescriptorProto, kept: EnumDescriptorProto) -> None:
    kept.name = enumeration.name
    kept.options.allow_alias = enumeration.options.allow_alias
    for value in enumeration.value:
        kept.value.add(name=value.name, number=value.number)


@pytest.mark.parametrize(
    ("text", "for_protoc"), [(ALL_KINDS, ALL_KINDS), (PROTO2, PROTO2), (ODD, ODD_FOR_PROTOC)]
)
def test_descriptor_is_that_of_protoc(text: str, for_protoc: str) -> None:
    assert bare(parse_file(text)) == bare(FileDescriptorProto.FromString(compile_proto(for_protoc)))


@pytest.mark.parametrize("name", ["descriptor", "type", "api", "struct", "wrappers"])
def test_descriptors_of_googles_own_files_are_those_of_protoc(name: str) -> None:
    text = resources.files("grpc_tools").joinpath(f"_proto/google/protobuf/{name}.proto").read_text()
    expected = FileDescriptorProto.FromString(compile_proto(text, name=f"google/protobuf/{name}.proto"))
    assert bare(parse_file(text)) == bare(expected)


def test_descriptor_in_base64_is_taken_too() -> None:
    data = base64.b64encode(compile_proto(ALL_KINDS)).decode()
    assert bare(parse_file(data)) == bare(parse_file(ALL_KINDS))
    assert parse_file(data, "x.proto").name == "x.proto"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("message M {", "ends too early"),
        ("message M { int32 x = 1 }", "line 1: '}' where ';' belongs"),
        ("\n\nmessage M { int32 x; }", "line 3: ';' where '=' belongs"),
        ("message M { int32 x = y; }", "'y' where a number belongs"),
        ("message M { int32 x = 1.5; }", "'1.5' is no whole number"),
        ("message 5 {}", "'5' where a name belongs"),
        ("mesage M {}", "'mesage' begins no statement"),
        ("message M { § }", "is no word"),
        ("message M { optional group G = 1 { } }", "has a group"),
        ('edition = "1900";', "no edition '1900'"),
        ("import google;", "'google' where a text belongs"),
    ],
)
def test_text_that_is_none_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(SchemaUnsupportedError, match=words):
        parse_file(text)
