"""Schema resolution of Avro: what a reader takes, and what it says about what it does not take."""

import json
import re
from typing import Any

import pytest

from penstock.schemas import Direction, Incompatibility, SchemaKind, check, parse

DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}


def found(writer: Any, reader: Any, direction: Direction = Direction.BACKWARD) -> list[Incompatibility]:
    old, new = (parse(SchemaKind.AVRO, json.dumps(each)) for each in (writer, reader))
    return check(SchemaKind.AVRO, old=old, new=new, direction=direction)


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    made = [{"name": each, "type": "int"} if isinstance(each, str) else each for each in fields]
    return {"type": "record", "name": name, "fields": made, **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def fixed(size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size, **more}


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        *[("int", wider) for wider in ("long", "float", "double")],
        *[("long", wider) for wider in ("float", "double")],
        *[("float", "double"), ("string", "bytes"), ("bytes", "string")],
        ("int", ["null", "long"]),
        (["int", "long"], "double"),
        (["null", "int"], ["string", "int", "null"]),
        (["int"], "int"),
        ({"type": "array", "items": "int"}, {"type": "array", "items": "long"}),
        ({"type": "map", "values": "int"}, {"type": "map", "values": ["null", "int"]}),
        (enum("A"), enum("A", "B")),
        (enum("A", "B"), enum("A", default="A")),
        (record("a", "b"), record("a")),
        (record("a"), record("a", {"name": "b", "type": ["null", "int"], "default": None})),
        (record("a"), record({"name": "b", "type": "int", "aliases": ["a"]})),
        (record("a", name="x.R"), record("a", name="y.R")),
        (record("a", name="Old"), record("a", aliases=["Old"])),
        (fixed(3, name="x.G"), fixed(3, aliases=["x.G"])),
        (record("a", name="n.Old"), ["null", record("a", name="New", aliases=["n.Old"])]),
        (DECIMAL, {**DECIMAL, "precision": 12}),
        (DECIMAL, "bytes"),
        ("long", MILLIS),
    ],
)
def test_reader_takes_what_the_specification_lets_it_take(writer: Any, reader: Any) -> None:
    assert found(writer, reader) == []


@pytest.mark.parametrize(
    ("writer", "reader", "kind", "path", "words"),
    [
        ("long", "int", "TYPE_MISMATCH", "/", "long is written and int read; long can also be read as float"),
        ("boolean", "int", "TYPE_MISMATCH", "/", "boolean is written and int read"),
        (
            {"type": "array", "items": "int"},
            {"type": "map", "values": "int"},
            "TYPE_MISMATCH",
            "/",
            "array of",
        ),
        (
            {"type": "array", "items": "long"},
            {"type": "array", "items": "int"},
            "TYPE_MISMATCH",
            "/items",
            "",
        ),
        (fixed(3), "bytes", "TYPE_MISMATCH", "/", "fixed F is written and bytes read"),
        (fixed(3), fixed(4), "FIXED_SIZE_MISMATCH", "/size", "4 bytes and 3 are written"),
        (enum("A", "B", "C"), enum("A"), "MISSING_ENUM_SYMBOLS", "/symbols", "lacks the symbols B, C"),
        (enum("A"), enum("A", name="Other"), "NAME_MISMATCH", "/name", "the alias 'E'"),
        (["int", "string"], ["int"], "MISSING_UNION_BRANCH", "/1", "add the branch string"),
        ("string", ["null", "int"], "MISSING_UNION_BRANCH", "/", r"union \[null, int\]"),
        (["null", "int"], "int", "TYPE_MISMATCH", "/0", "null is written and int read"),
        (
            record("a"),
            record("a", "price"),
            *(
                "READER_FIELD_MISSING_DEFAULT_VALUE",
                "/fields/1",
                "'price' .* has no default.*give 'price' a default",
            ),
        ),
        (
            record({"name": "in", "type": ["null", record("a", name="I")]}),
            record({"name": "in", "type": ["null", record("b", name="I")]}),
            *("READER_FIELD_MISSING_DEFAULT_VALUE", "/fields/0/type/1/fields/0", "'b'"),
        ),
        (
            record("a", "b"),
            record({"name": "c", "type": "int", "aliases": ["a", "b"]}),
            *("READER_FIELD_AMBIGUOUS", "/fields/0", "both 'a' and 'b'"),
        ),
        (
            DECIMAL,
            {**DECIMAL, "scale": 3},
            "LOGICAL_TYPE_MISMATCH",
            "/",
            r"decimal\(9,2\) and read as decimal",
        ),
        (DECIMAL, {**DECIMAL, "precision": 8}, "LOGICAL_TYPE_MISMATCH", "/", "no fewer digits"),
        (
            MILLIS,
            {"type": "long", "logicalType": "timestamp-micros"},
            *("LOGICAL_TYPE_MISMATCH", "/", "timestamp-millis and read as timestamp-micros"),
        ),
        (
            fixed(8, logicalType="decimal", precision=9, scale=1),
            fixed(8, logicalType="decimal", precision=9, scale=2),
            *("LOGICAL_TYPE_MISMATCH", "/", "something else"),
        ),
    ],
)
def test_reader_says_what_it_does_not_take(
    writer: Any, reader: Any, kind: str, path: str, words: str
) -> None:
    reasons = found(writer, reader)
    assert [(each.kind, each.path) for each in reasons] == [(kind, path)]
    assert re.search(words, reasons[0].message), reasons[0].message
    assert str(reasons[0]).startswith(f"{kind} at {path}: ")


def test_directions_ask_the_other_side() -> None:
    wider = found("int", "long", Direction.FORWARD)
    assert [each.kind for each in wider] == ["TYPE_MISMATCH"]
    assert found("long", "int", Direction.FORWARD) == []
    assert len(found("int", "long", Direction.FULL)) == 1


def test_record_within_itself_is_compared_once() -> None:
    def node(value: Any) -> Any:
        return record({"name": "next", "type": ["null", "R"]}, {"name": "value", "type": value})

    assert found(node("int"), node("long")) == []
    assert [each.path for each in found(node("long"), node("int"))] == ["/fields/1/type"]


def test_assumption_about_a_record_within_itself_is_taken_back() -> None:
    """Q is read as it is only if P is. P is not, for the sake of ``bad``, and nobody would say so of Q."""

    def schema(bad: str) -> Any:
        inner = record({"name": "p", "type": ["null", "P"]}, name="Q")
        outer = record({"name": "q", "type": ["null", inner]}, {"name": "bad", "type": bad}, name="P")
        return record({"name": "one", "type": ["null", outer]}, {"name": "two", "type": "Q"}, name="R")

    paths = [each.path for each in found(schema("long"), schema("int"))]
    assert "/fields/0/type/1/fields/1/type" in paths


def test_many_uses_of_one_type_are_compared_once() -> None:
    """Forty records that each use the one before twice would have a million millions of leaves."""

    def levels(type_: str) -> Any:
        schema = record({"name": "x", "type": type_}, name="L0")
        for level in range(1, 40):
            fields = [{"name": "a", "type": schema}, {"name": "b", "type": f"L{level - 1}"}]
            schema = record(*fields, name=f"L{level}")
        return schema

    assert found(levels("int"), levels("long")) == []
    assert len(found(levels("long"), levels("int"))) == 1


def test_comparison_without_end_is_given_up() -> None:
    """Every branch of one union would be tried with every branch of the other."""

    def branches(letter: str) -> Any:
        return [{"type": "enum", "name": f"{letter}{number}", "symbols": ["S"]} for number in range(500)]

    assert [each.kind for each in found(branches("A"), branches("B"))] == ["COMPARISON_TOO_COMPLEX"]
    assert found(branches("A")[:300], branches("A")[299::-1]) == []
