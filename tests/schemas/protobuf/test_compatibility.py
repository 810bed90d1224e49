"""Which changes of a Protobuf schema lose or mistake records: each with the reason that is given."""

import re

import pytest

from penstock.schemas import Direction, Incompatibility, SchemaKind, check, parse

Texts = dict[str, str]


def found(
    old: str,
    new: str,
    *,
    direction: Direction = Direction.BACKWARD,
    old_texts: Texts | None = None,
    new_texts: Texts | None = None,
) -> list[Incompatibility]:
    head = 'syntax = "proto3"; package p; '
    old, new = (each if each.startswith("syntax") else head + each for each in (old, new))
    return check(
        SchemaKind.PROTOBUF,
        old=parse(SchemaKind.PROTOBUF, old, resolve=old_texts),
        new=parse(SchemaKind.PROTOBUF, new, resolve=new_texts),
        direction=direction,
    )


def message(body: str) -> str:
    return f"message M {{ {body} }}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (message("int32 a = 1;"), message("int32 a = 1; string b = 2;")),
        (message("int32 a = 1; string b = 2;"), message("int32 a = 1;")),
        (message("int32 a = 1;"), message("int32 renamed = 1;")),
        (message("int32 a = 1;"), message("uint64 a = 1;")),
        (message("int32 a = 1;"), message("enum E { Z = 0; } E a = 1;")),
        (message("string a = 1;"), message("bytes a = 1;")),
        (message("string a = 1;"), message("repeated string a = 1;")),
        (message("repeated M a = 1;"), message("M a = 1;")),
        (message("map<string, int32> a = 1;"), message("map<string, int64> a = 1;")),
        (message("int32 a = 1;"), message("oneof x { int32 a = 1; }")),
        (message("oneof x { int32 a = 1; }"), message("oneof x { int32 a = 1; int32 b = 2; }")),
        (message("oneof x { int32 a = 1; int32 b = 2; }"), message("int32 a = 1; int32 b = 2;")),
        (message("oneof x { int32 a = 1; } int32 b = 2;"), message("int32 b = 2;")),
        (message("optional int32 a = 1;"), message("int32 a = 1;")),
        ("message A {} message B {}", "message B {} message A {} message C {}"),
        ("message M { enum E { A = 0; B = 1; } }", "message M { enum E { A = 0; } }"),
    ],
)
def test_change_that_loses_nothing_is_compatible(old: str, new: str) -> None:
    assert found(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "kind", "path", "words"),
    [
        ("message A {} message B {}", "message A {}", "MESSAGE_REMOVED", "#/B", "message 'B' is gone"),
        ("message A { message B {} }", "message A {}", "MESSAGE_REMOVED", "#/A/B", "message 'B'"),
        (
            'syntax = "proto3"; package p; message A {}',
            'syntax = "proto3"; package q; message A {}',
            *("PACKAGE_CHANGED", "#", "'q' and was 'p'"),
        ),
        (
            message("int32 a = 1;"),
            message("string a = 1;"),
            *(
                "FIELD_SCALAR_KIND_CHANGED",
                "#/M/1",
                "field 'a' was int32 and is string.*one of int64, uint32",
            ),
        ),
        (message("int32 a = 1;"), message("sint32 a = 1;"), "FIELD_SCALAR_KIND_CHANGED", "#/M/1", "sint32"),
        (message("float a = 1;"), message("double a = 1;"), "FIELD_SCALAR_KIND_CHANGED", "#/M/1", "double"),
        (message("int32 a = 1;"), message("M a = 1;"), "FIELD_KIND_CHANGED", "#/M/1", r"int32 and is p\.M"),
        (
            message("M a = 1;"),
            message("map<string, M> a = 1;"),
            "FIELD_KIND_CHANGED",
            "#/M/1",
            "new field number",
        ),
        (
            message("map<string, int32> a = 1;"),
            message("map<string, string> a = 1;"),
            *("FIELD_SCALAR_KIND_CHANGED", "#/M/1", "int32 and is string"),
        ),
        (
            message("int32 a = 1;"),
            message("repeated int32 a = 1;"),
            *("FIELD_NUMERIC_LABEL_CHANGED", "#/M/1", "single when written and repeated when read"),
        ),
        (
            message("A a = 1;") + " message A {} message B {}",
            message("B a = 1;") + " message A {} message B {}",
            *("FIELD_NAMED_TYPE_CHANGED", "#/M/1", r"was p\.A and is p\.B"),
        ),
        (
            message("oneof x { int32 a = 1; int32 b = 2; }"),
            message("oneof x { int32 a = 1; }"),
            *("ONEOF_FIELD_REMOVED", "#/M/2", "'b' is gone from oneof 'x'"),
        ),
        (
            message("int32 a = 1; int32 b = 2;"),
            message("oneof x { int32 a = 1; int32 b = 2; }"),
            *("MULTIPLE_FIELDS_MOVED_TO_ONEOF", "#/M/x", "fields a, b could be set together"),
        ),
        (
            message("oneof x { int32 a = 1; } int32 b = 2;"),
            message("oneof x { int32 a = 1; int32 b = 2; }"),
            *("FIELD_MOVED_TO_EXISTING_ONEOF", "#/M/x", "a, b"),
        ),
        (
            'syntax = "proto2"; message M {}',
            'syntax = "proto2"; message M { required int32 a = 1; }',
            *("REQUIRED_FIELD_ADDED", "#/M/1", "'a' is new.*make it optional"),
        ),
        (
            'syntax = "proto2"; message M { required int32 a = 1; }',
            'syntax = "proto2"; message M {}',
            *("REQUIRED_FIELD_REMOVED", "#/M/1", "required field 'a' is gone"),
        ),
        (
            'syntax = "proto2"; message M { optional string a = 1; }',
            'syntax = "proto2"; message M { required string a = 1; }',
            *("REQUIRED_FIELD_ADDED", "#/M/1", "by the reader alone"),
        ),
    ],
)
def test_change_that_loses_something_is_told(old: str, new: str, kind: str, path: str, words: str) -> None:
    reasons = [each for each in found(old, new) if each.kind == kind]
    assert [each.path for each in reasons] == [path]
    assert re.search(words, reasons[0].message), reasons[0].message


def test_change_of_an_inner_type_is_told_where_it_is_and_where_it_is_used() -> None:
    old, new = (
        f"message Outer {{ Inner inner = 1; }} message Inner {{ {each} a = 1; Outer outer = 2; }}"
        for each in ("int32", "string")
    )
    reasons = {each.path: each.kind for each in found(old, new)}
    assert reasons["#/Outer/1/Inner/1"] == "FIELD_SCALAR_KIND_CHANGED"
    assert reasons["#/Outer/1"] == "FIELD_NAMED_TYPE_CHANGED"


def test_removed_message_matters_to_who_reads_it_only() -> None:
    old, new = "message A {} message B {}", "message A {}"
    assert found(old, new, direction=Direction.FORWARD) == []
    assert [each.kind for each in found(new, old, direction=Direction.FORWARD)] == ["MESSAGE_REMOVED"]
    assert len(found(old, new, direction=Direction.FULL)) == 1


def test_import_may_have_another_package_and_still_the_same_type() -> None:
    one = {"x.proto": 'syntax = "proto3"; package one; message X { int32 a = 1; }'}
    two = {"x.proto": one["x.proto"].replace("package one", "package two")}
    old, new = (f'import "x.proto"; message M {{ {package}.X x = 1; }}' for package in ("one", "two"))
    assert found(old, new, old_texts=one, new_texts=two) == []
    two["x.proto"] = two["x.proto"].replace("int32", "string")
    assert {each.kind for each in found(old, new, old_texts=one, new_texts=two)} == {
        *("FIELD_SCALAR_KIND_CHANGED", "FIELD_NAMED_TYPE_CHANGED")
    }


def test_groups_are_not_messages() -> None:
    old = 'syntax = "proto2"; message M { optional group G = 1 { optional int32 x = 1; } }'
    new = 'syntax = "proto2"; message M { optional G g = 1; message G { optional int32 x = 1; } }'
    assert [each.kind for each in found(old, new)] == ["FIELD_KIND_CHANGED"]


def test_many_uses_of_one_type_are_compared_once() -> None:
    """Forty messages that each use the one before twice would have a million millions of leaves."""
    levels = " ".join(f"message L{n} {{ L{n - 1} a = 1; L{n - 1} b = 2; }}" for n in range(1, 40))
    old, new = (f"message L0 {{ {each} x = 1; }} {levels}" for each in ("int32", "string"))
    reasons = found(old, new)
    assert reasons[0].kind == "FIELD_SCALAR_KIND_CHANGED"
    assert len(reasons) < 200
