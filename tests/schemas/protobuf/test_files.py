"""Imports, names and numbers: what a file needs to be whole, and what is wrong with those that are not."""

import pytest

from penstock.schemas import InvalidSchema, Reference, SchemaKind, parse

HEAD = 'syntax = "proto3"; '


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "declares nothing"),
        (HEAD, "declares nothing"),
        (HEAD + 'import "x.proto"; message M {}', "imports 'x.proto', which is none of its references"),
        (HEAD + 'import "google/type/none.proto"; message M {}', "googleapis-common-protos"),
        (
            HEAD + 'import "google/type/../x.proto"; message M {}',
            "no file 'google/type/../x.proto' of Google's",
        ),
        (HEAD + "message M { Nowhere x = 1; }", "'Nowhere' in M is no type"),
        (HEAD + "service S { rpc A (M) returns (M); }", "'M' in S is no type"),
        (HEAD + "message M { int32 x = 0; }", "in M: field 'x' has the number 0; numbers go from 1"),
        (HEAD + "message M { int32 x = 19500; }", "19000 to 19999"),
        (HEAD + "message M { int32 x = 536870912; }", "numbers go from 1 to 536870911"),
        (HEAD + "message M { int32 x = 1; int32 y = 1; }", "field number 1 is there 2 times"),
        (HEAD + "message M { int32 x = 1; int32 x = 2; }", "name 'x' is there 2 times"),
        (HEAD + "message M { reserved 5 to 9; int32 x = 7; }", "number 7, which is reserved"),
        (HEAD + 'message M { reserved "x"; int32 x = 7; }', "name of field 'x' is reserved"),
        (HEAD + "message M { required int32 x = 1; }", "required, which proto3 has not"),
        (HEAD + "message M { int32 x = 1 [default = 5]; }", "default, which proto3 has not"),
        (HEAD + "message M { repeated group G = 1 {} }", "group, which proto3 has not"),
        (HEAD + "message M { map<double, int32> x = 1; }", "keys of a map"),
        (HEAD + "enum E {}", "one value at least"),
        (HEAD + "enum E { A = 1; }", "'A', is not 0"),
        (HEAD + "enum E { A = 0; B = 0; }", "number 0 is there 2 times"),
        (HEAD + "enum E { reserved 0; A = 0; }", "number 0, which is reserved"),
        (HEAD + 'enum E { reserved "A"; A = 0; }', "name of value 'A' is reserved"),
        (HEAD + "message M {} message M {}", "M"),
        (
            HEAD
            + 'import "confluent/meta.proto"; message M { int32 x = 1 [(confluent.field_meta).nope = 1]; }',
            "field_meta.*wrong value",
        ),
    ],
)
def test_file_that_is_not_whole_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidSchema, match=words):
        parse(SchemaKind.PROTOBUF, text)


def test_imports_come_from_references_and_from_what_everybody_has() -> None:
    text = (
        HEAD
        + """
        import "common/money.proto"; import "confluent/types/decimal.proto"; import "google/type/date.proto";
        message M { common.Money money = 1; confluent.type.Decimal number = 3; google.type.Date day = 4; }
        """
    )
    texts = {
        "common/unit.proto": HEAD + "package common; enum Unit { EUR = 0; }",
        "common/money.proto": HEAD
        + 'package common; import "common/unit.proto"; message Money { Unit unit = 1; }',
    }
    reference = Reference(name="common/money.proto", subject="money", version=2)
    schema = parse(SchemaKind.PROTOBUF, text, references=[reference], resolve=texts)
    assert ".common.Money money = 1;" in schema.canonical()
    assert '["common/money.proto", "money", 2]' in schema.canonical()


def test_type_of_an_import_of_an_import_is_not_seen_unless_it_is_public() -> None:
    texts = {
        "a.proto": HEAD + "message A {}",
        "b.proto": HEAD + 'import "a.proto"; message B { A a = 1; }',
    }
    text = HEAD + 'import "b.proto"; message M { A a = 1; }'
    with pytest.raises(InvalidSchema, match="'A' in M is no type"):
        parse(SchemaKind.PROTOBUF, text, resolve=texts)
    texts["b.proto"] = texts["b.proto"].replace("import", "import public")
    assert "A a = 1;" in parse(SchemaKind.PROTOBUF, text, resolve=texts).canonical()


def test_files_that_import_each_other_are_refused() -> None:
    texts = {
        "a.proto": HEAD + 'import "b.proto"; message A { B b = 1; }',
        "b.proto": HEAD + 'import "a.proto"; message B { A a = 1; }',
    }
    with pytest.raises(InvalidSchema, match=r"circle: a\.proto > b\.proto > a\.proto"):
        parse(SchemaKind.PROTOBUF, HEAD + 'import "a.proto"; message M { A a = 1; }', resolve=texts)


def test_inner_scope_hides_an_outer_one() -> None:
    """As protoc has it: what the first part of a name means inside counts, even if the rest is not there."""
    text = HEAD + "package a; message B { message C {} } message M { message B {} B.C c = 1; }"
    with pytest.raises(InvalidSchema, match=r"'B\.C' in a\.M is no type"):
        parse(SchemaKind.PROTOBUF, text)


def test_custom_options_without_a_definition_are_kept_as_they_are() -> None:
    text = HEAD + 'message M { int32 x = 1 [(far.away) = 5, (far.off).x = "y"]; }'
    assert '[(far.away) = 5, (far.off).x = "y"]' in parse(SchemaKind.PROTOBUF, text).canonical()
