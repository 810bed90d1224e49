"""Avro records into columns: by columns and by rows the same, with resolution, and whatever the bytes are."""

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.registry.avro.avro_samples import records, values_of, written

from penstock.spark.registry.avro.column_readers import ITEMS_MAX
from penstock.spark.registry.avro.decoding import avro_decoder
from penstock.spark.registry.avro.parsing import parse_schema
from penstock.spark.registry.avro.row_decoding import RowDecoder
from penstock.spark.registry.errors import SchemaUnsupportedError
from penstock.spark.registry.mixed_decoding import NOT_OF_ITS_SCHEMA
from penstock.spark.registry.payloads import Decoded, payloads_of

DAY = {"type": "int", "logicalType": "date"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}


def record(*fields: tuple[Any, ...], name: str = "R", **more: Any) -> dict[str, Any]:
    parts = [{"name": field[0], "type": field[1], **(field[2] if len(field) > 2 else {})} for field in fields]
    return {"type": "record", "name": name, "fields": parts, **more}


def decode(writer: Any, reader: Any, column: pa.Array, *, by_rows: bool = False) -> Decoded:
    types = parse_schema(json.dumps(writer)), parse_schema(json.dumps(reader))
    decoder = RowDecoder(*types) if by_rows else avro_decoder(*types)
    decoded = decoder.decode(payloads_of(column))
    decoded.values.validate(full=True)
    return decoded


def both(writer: Any, reader: Any, values: list[Any]) -> list[Any]:
    """The values read by columns, after a look that reading by rows gives the same."""
    column = written(writer, values)
    decoded, by_rows = (decode(writer, reader, column, by_rows=rows) for rows in (False, True))
    assert decoded.values.equals(by_rows.values)
    assert not decoded.reasons
    assert not by_rows.reasons
    return list(decoded.values.to_pylist())


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_columns_hold_what_fastavro_wrote(data: st.DataObject) -> None:
    schema = data.draw(records())
    values = data.draw(st.lists(values_of(schema), max_size=5))
    both(schema, schema, values)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_records_are_read_as_by_fastavro_or_not_at_all(data: st.DataObject) -> None:
    schema = data.draw(records())
    column = written(schema, data.draw(st.lists(values_of(schema), min_size=1, max_size=4)))
    damaged = pa.array([data.draw(damage(value)) for value in column.to_pylist()], pa.binary())
    decoded, by_rows = (decode(schema, schema, damaged, by_rows=rows) for rows in (False, True))
    for row in range(len(damaged)):
        if row in decoded.reasons:
            assert decoded.reasons[row]
            assert not decoded.values[row].is_valid
        else:
            assert row not in by_rows.reasons
            assert repr(decoded.values[row]) == repr(by_rows.values[row])  # NaN is not equal to itself.


@st.composite
def damage(draw: st.DrawFn, record: bytes) -> bytes:
    """Some bytes changed, perhaps the end cut off."""
    changed = bytearray(record)
    for _ in range(draw(st.integers(0, 2)) if record else 0):
        changed[draw(st.integers(0, len(record) - 1))] = draw(st.integers(0, 255))
    return bytes(changed[: draw(st.integers(0, len(record)))] if draw(st.booleans()) else changed)


def test_writers_fields_are_found_by_name_and_alias_and_others_get_defaults() -> None:
    writer = record(("b", "string"), ("gone", {"type": "array", "items": "string"}), ("old", "int"))
    reader = record(
        ("new", "long", {"aliases": ["old"]}),
        ("raw", "bytes", {"default": "\u00ff"}),
        ("price", DECIMAL, {"default": "\u0001\u0000"}),
        ("b", ["null", "string"], {"default": None}),
        ("inner", record(("x", ["null", "int"]), name="In"), {"default": {"x": 4}}),
    )
    found = both(writer, reader, [{"b": "x", "gone": ["y", "z"], "old": 7}] * 2)
    expected = {"new": 7, "raw": b"\xff", "price": Decimal("2.56"), "b": "x", "inner": {"x": 4}}
    assert found == [expected, expected]


@pytest.mark.parametrize(
    ("writer", "reader", "value", "expected"),
    [
        ("int", "long", 5, 5),
        ("int", "float", 5, 5.0),
        ("long", "double", 2**53, 2.0**53),
        ("float", "double", 0.5, 0.5),
        ("string", "bytes", "ä", "ä".encode()),
        ("bytes", "string", b"abc", "abc"),
        ("int", ["null", "long"], 5, 5),
        (["null", "int"], ["long", "null"], 5, 5),
        (["null", "int"], "long", 5, 5),
        (["int", "long"], ["int", "long"], 5, 5),
        ("long", {"type": "long", "logicalType": "timestamp-micros"}, 5, None),
        ({"type": "array", "items": "int"}, {"type": "array", "items": ["null", "double"]}, [1], [1.0]),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "long"}, {"a": 1}, [("a", 1)]),
    ],
)
def test_types_are_promoted(writer: Any, reader: Any, value: Any, expected: Any) -> None:
    found = both(record(("a", writer)), record(("a", reader)), [{"a": value}])
    if expected is not None:
        assert found == [{"a": expected}]


def test_word_that_the_reader_does_not_know_becomes_its_default() -> None:
    def words(*symbols: str, **more: Any) -> Any:
        return record(("a", {"type": "enum", "name": "E", "symbols": list(symbols), **more}))

    assert both(words("X", "Y"), words("Y", "Z", default="Z"), [{"a": "X"}, {"a": "Y"}]) == [
        {"a": "Z"},
        {"a": "Y"},
    ]
    column = written(words("X", "Y"), [{"a": "X"}, {"a": "Y"}])
    decoded = decode(words("X", "Y"), words("Y"), column)
    assert decoded.values.to_pylist() == [None, {"a": "Y"}]
    assert "X not found in reader symbol list" in decoded.reasons[0]


def test_union_of_several_types_is_a_struct_of_members() -> None:
    named = [record(("x", "int"), name="A"), record(("x", "int"), name="B")]
    union = [
        "null",
        "string",
        *named,
        {"type": "array", "items": "int"},
        {"type": "enum", "name": "E", "symbols": ["S"]},
    ]
    schema = record(("u", union))
    values = [None, "S", ("A", {"x": 1}), ("B", {"x": 2}), [3], ("E", "S")]
    found = both(schema, schema, [{"u": value} for value in values])
    assert [value["u"] and {k: v for k, v in value["u"].items() if v is not None} for value in found] == [
        *(None, {"member0": "S"}, {"member1": {"x": 1}}, {"member2": {"x": 2}}),
        *({"member3": [3]}, {"member4": "S"}),
    ]


def test_type_that_became_one_of_a_union_is_read() -> None:
    inner = record(("x", "int"), name="A")
    found = both(record(("u", inner)), record(("u", ["string", inner])), [{"u": {"x": 1}}])
    assert found == [{"u": {"member0": None, "member1": {"x": 1}}}]


def test_records_of_another_name_are_refused_row_by_row() -> None:
    writer, reader = record(("a", "int"), name="A"), record(("a", "int"), name="B")
    decoded = decode(writer, reader, written(writer, [{"a": 1}]))
    assert decoded.values.to_pylist() == [None]
    assert "mismatch" in decoded.reasons[0]
    assert both(writer, {**reader, "aliases": ["A"]}, [{"a": 1}]) == [{"a": 1}]


def test_missing_field_without_default_is_refused_row_by_row() -> None:
    writer = record(("a", "int"))
    decoded = decode(writer, record(("a", "int"), ("b", "int")), written(writer, [{"a": 1}]))
    assert "No default value for field b" in decoded.reasons[0]


def test_milliseconds_are_never_taken_for_microseconds() -> None:
    millis, micros = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
    with pytest.raises(
        SchemaUnsupportedError, match=r"inner\.at: written as timestamp-millis, read as timestamp-micros"
    ):
        avro_decoder(
            *(
                parse_schema(json.dumps(record(("inner", record(("at", ["null", unit]), name="In")))))
                for unit in (millis, micros)
            )
        )


def test_time_and_decimals_are_exact() -> None:
    schema = record(
        ("day", DAY),
        ("at", {"type": "long", "logicalType": "timestamp-millis"}),
        ("local", {"type": "long", "logicalType": "local-timestamp-micros"}),
        ("price", DECIMAL),
        (
            "fixed",
            {"type": "fixed", "name": "F", "size": 20, "logicalType": "decimal", "precision": 38, "scale": 3},
        ),
        ("prices", {"type": "array", "items": ["null", DECIMAL]}),
        ("times", {"type": "map", "values": {"type": "long", "logicalType": "timestamp-millis"}}),
    )
    value = {
        "day": -1,
        "at": -1,
        "local": 1,
        "price": Decimal("-999.99"),
        "fixed": Decimal("-0.001"),
        "prices": [None, Decimal("1.28")],
        "times": {"a": 2},
    }
    [found] = both(schema, schema, [value])
    assert str(found["day"]) == "1969-12-31"
    assert found["at"].isoformat() == "1969-12-31T23:59:59.999000+00:00"
    assert found["local"].isoformat() == "1970-01-01T00:00:00.000001"
    assert (found["price"], found["fixed"]) == (Decimal("-999.99"), Decimal("-0.001"))
    assert found["prices"] == [None, Decimal("1.28")]
    assert found["times"][0][1].isoformat() == "1970-01-01T00:00:00.002000+00:00"


@pytest.mark.parametrize(
    ("digits", "is_good"),
    [(b"\x01\x86\x9f", True), (b"\x01\x86\xa0", False), (b"\xfe\x79\x61", True), (b"\xfe\x79\x60", False)],
)
def test_decimal_of_too_many_digits_is_bad_and_its_neighbours_are_not(digits: bytes, is_good: bool) -> None:
    raw = record(("price", "bytes"))
    column = written(raw, [{"price": b"\1"}, {"price": digits}, {"price": b"\2"}])
    schema = record(("price", DECIMAL))
    decoded = decode(schema, schema, column)
    assert [value is not None for value in decoded.values.to_pylist()] == [True, is_good, True]
    assert decoded.reasons == ({} if is_good else {1: "a decimal of over 5 digits"})


def test_long_arrays_and_keys_given_twice_are_read_by_rows() -> None:
    schema = record(("items", {"type": "array", "items": "int"}))
    values = [{"items": list(range(ITEMS_MAX + 1))}, {"items": []}]
    assert both(schema, schema, values) == values
    twice = pa.array([b"\x04\x02a\x02\x02a\x04\0"])
    schema = record(("m", {"type": "map", "values": "int"}))
    assert decode(schema, schema, twice).values.to_pylist() == [{"m": [("a", 2)]}]


def test_blocks_with_sizes_and_several_blocks_are_read() -> None:
    schema = record(("items", {"type": "array", "items": "int"}))
    blocks = pa.array([b"\x03\x04\x02\x04\x02\x06\0", b"\x02\x08\0"])
    assert decode(schema, schema, blocks).values.to_pylist() == [{"items": [1, 2, 3]}, {"items": [4]}]


def test_array_that_promises_more_items_than_bytes_costs_nothing() -> None:
    schema = record(("items", {"type": "array", "items": "int"}))
    decoded = decode(schema, schema, pa.array([b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x02"]))
    assert "EOFError" in decoded.reasons[0]


def test_array_whose_items_take_no_bytes_is_refused() -> None:
    for items in ("null", record(name="Empty"), {"type": "fixed", "name": "F", "size": 0}):
        tree = parse_schema(json.dumps(record(("a", ["null", {"type": "array", "items": items}]))))
        with pytest.raises(SchemaUnsupportedError, match="items take no bytes"):
            avro_decoder(tree, tree)


@pytest.mark.parametrize(
    ("schema", "data", "reason"),
    [
        ("int", b"\xff\xff\xff\xff\x7f", "int"),
        ("boolean", b"\2", NOT_OF_ITS_SCHEMA),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\1", NOT_OF_ITS_SCHEMA),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\2", "index"),
        ("string", b"\4\xff\xff", "utf-8"),
        ("string", b"\4a", "Expected 2 bytes, read 1"),
        ("string", b"\2ab", "1 bytes are left over"),
        ("long", b"", "EOFError"),
    ],
)
def test_record_that_does_not_decode_has_a_reason(schema: Any, data: bytes, reason: str) -> None:
    good = written(schema, [{"int": 1, "long": 1, "boolean": True, "string": "x"}.get(str(schema), "A")])
    decoded = decode(schema, schema, pa.array([good[0].as_py(), data]))
    assert [value is None for value in decoded.values.to_pylist()] == [False, True]
    assert reason in decoded.reasons[1]


def test_two_kinds_of_numbers_in_one_union_are_refused_by_rows() -> None:
    tree = parse_schema('["int", "long", "string"]')
    with pytest.raises(SchemaUnsupportedError, match="two kinds of numbers"):
        RowDecoder(tree, tree)
