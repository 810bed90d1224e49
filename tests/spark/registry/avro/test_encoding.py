"""Columns into Avro records: fastavro must read what was meant, and nothing is written that would be lost."""

import datetime
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.registry.avro.avro_samples import records, values_of, written

from penstock.model.errors import UsageError
from penstock.spark.registry.avro.decoding import avro_decoder
from penstock.spark.registry.avro.encoding import encode
from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.payloads import payloads_of

DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2}
UTC = datetime.UTC
MEMBERS = pa.struct([("member0", pa.string()), ("member1", pa.int32())])


def record(*fields: tuple[Any, ...], name: str = "R") -> dict[str, Any]:
    parts = [{"name": field[0], "type": field[1], **(field[2] if len(field) > 2 else {})} for field in fields]
    return {"type": "record", "name": name, "fields": parts}


def read_back(schema: Any, column: pa.Array) -> list[Any]:
    """What fastavro reads of each record, logical types included."""
    encoded = encode(column, parse_schema(json.dumps(schema)))
    encoded.validate(full=True)
    streams = [io.BytesIO(value) for value in encoded.to_pylist()]
    found = [fastavro.schemaless_reader(stream, schema, None) for stream in streams]
    assert all(not stream.read() for stream in streams)
    return found


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_records_are_byte_for_byte_what_fastavro_writes(data: st.DataObject) -> None:
    schema = data.draw(records())
    column = written(schema, data.draw(st.lists(values_of(schema), max_size=5)))
    tree = parse_schema(json.dumps(schema))
    values = avro_decoder(tree, tree).decode(payloads_of(column)).values
    skipped = len(column) // 2
    assert encode(values, tree).equals(column)
    assert encode(values[skipped:], tree).equals(column[skipped:])


@given(st.lists(st.none() | st.decimals("-9e35", "9e35", places=2), max_size=8), st.booleans())
def test_decimals_are_read_back(numbers: list[Decimal | None], is_fixed: bool) -> None:
    shape = {"type": "fixed", "name": "F", "size": 17} if is_fixed else {}
    column = pa.array(numbers, pa.decimal128(38, 2))
    assert read_back(["null", {**DECIMAL, **shape}], column) == numbers


def test_times_are_read_back_and_finer_parts_rounded_down() -> None:
    schema = record(
        ("day", {"type": "int", "logicalType": "date"}),
        ("millis", {"type": "long", "logicalType": "timestamp-millis"}),
        ("micros", {"type": "long", "logicalType": "timestamp-micros"}),
        ("local", {"type": "long", "logicalType": "local-timestamp-micros"}),
        ("clock", {"type": "int", "logicalType": "time-millis"}),
    )
    at = datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    types = pa.struct(
        [
            ("day", pa.date32()),
            ("millis", pa.timestamp("us", tz="UTC")),
            ("micros", pa.timestamp("us", tz="UTC")),
            ("local", pa.timestamp("us")),
            ("clock", pa.int32()),
        ]
    )
    value = {"day": at.date(), "millis": at, "micros": at, "local": at.replace(tzinfo=None), "clock": 1500}
    [found] = read_back(schema, pa.array([value], types))
    assert found["millis"] == at.replace(microsecond=999_000)
    assert (found["day"], found["micros"], found["local"]) == (value["day"], at, value["local"])
    assert found["clock"] == datetime.time(0, 0, 1, 500_000)


def test_columns_are_found_by_name_and_missing_ones_get_their_default() -> None:
    schema = record(
        ("b", "string"),
        ("a", ["null", "int"]),
        ("c", ["null", "bytes"], {"default": None}),
        ("d", "bytes", {"default": "\u00ff"}),
    )
    column = pa.array(
        [{"a": 1, "b": "x"}, {"a": None, "b": "y"}], pa.struct([("a", pa.int16()), ("b", pa.string())])
    )
    assert read_back(schema, column) == [
        {"b": "x", "a": 1, "c": None, "d": b"\xff"},
        {"b": "y", "a": None, "c": None, "d": b"\xff"},
    ]


def test_members_become_the_union_they_came_from() -> None:
    union = ["string", "null", {"type": "array", "items": "int"}]
    column = pa.array(
        [{"member0": "x"}, None, {"member1": [1, 2]}],
        pa.struct([("member0", pa.string()), ("member1", pa.list_(pa.int32()))]),
    )
    assert read_back(union, column) == ["x", None, [1, 2]]


def test_whole_null_without_a_branch_for_it_stays_null() -> None:
    encoded = encode(pa.array(["x", None]), parse_schema('"string"'))
    assert encoded.to_pylist() == [b"\x02x", None]


@pytest.mark.parametrize(
    ("schema", "column", "words"),
    [
        ("int", pa.array([2**31]), "2147483648"),
        ("string", pa.array([1]), "int64, which is not written as string"),
        ("float", pa.array([0.1]), "double, which is not written as float"),
        ("null", pa.array([1]), "not written as null"),
        ("boolean", pa.array([1]), "not written as boolean"),
        ({"type": "array", "items": "int"}, pa.array([1]), "not written as array of int"),
        ({"type": "map", "values": "int"}, pa.array([1]), "not written as map of int"),
        ({"type": "int", "logicalType": "date"}, pa.array([1]), "not written as date"),
        (
            {"type": "long", "logicalType": "timestamp-micros"},
            pa.array([1], pa.timestamp("us")),
            "not written as timestamp-micros",
        ),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, pa.array(["A", "C"]), "C is none of A, B"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, pa.array([1]), "not written as enumeration E"),
        ({"type": "fixed", "name": "F", "size": 2}, pa.array([b"abc"]), "3"),
        ({"type": "fixed", "name": "F", "size": 2}, pa.array([1]), "not written as fixed F"),
        (
            {**DECIMAL, "precision": 3},
            pa.array([Decimal("10.00")], pa.decimal128(5, 2)),
            "precision",
        ),
        (
            {**DECIMAL, "type": "fixed", "name": "F", "size": 1},
            pa.array([Decimal("1.28")]),
            "does not fit into 1 bytes",
        ),
        (record(("a", "int")), pa.array([{"a": 1, "b": 2}]), "has b, which record R has not"),
        (record(("a", "int"), ("b", "int")), pa.array([{"a": 1}]), "lacks b, for which record R has no"),
        (record(("a", "int")), pa.array([{"a": 1}, {"a": None}]), "a is null"),
        (record(("a", {"type": "array", "items": "int"})), pa.array([{"a": [1, None]}]), r"a\.\[1\] is null"),
        (
            record(("a", {"type": "map", "values": "int"})),
            pa.array([{"a": [("k", None)]}], pa.struct([("a", pa.map_(pa.string(), pa.int32()))])),
            r"a\.\{k\} is null",
        ),
        (
            record(("a", ["null", record(("b", ["string", "int"]), name="In")])),
            pa.array([{"a": {"b": None}}], pa.struct([("a", pa.struct([("b", MEMBERS)]))])),
            r"a\.b is null",
        ),
        (
            ["string", "int"],
            pa.array([{"member0": "x", "member1": 1}], MEMBERS),
            "exactly one of member0, member1",
        ),
        (["string", "int"], pa.array(["x"]), r"not written as \[string, int\]"),
        (record(("a", "int")), pa.array([1]), "not written as record R"),
    ],
)
def test_value_that_does_not_fit_is_refused(schema: Any, column: pa.Array, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        encode(column, parse_schema(json.dumps(schema)))
