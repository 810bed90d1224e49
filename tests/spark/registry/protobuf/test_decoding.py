"""Protobuf records into columns: by columns what the runtime says, whatever the bytes are."""

import datetime
import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.registry.protobuf.proto_samples import ALL_KINDS, PROTO2, messages

from penstock.spark.registry.payloads import Decoded, payloads_of
from penstock.spark.registry.protobuf.column_readers import ROUNDS_MAX
from penstock.spark.registry.protobuf.decoding import protobuf_decoder
from penstock.spark.registry.protobuf.messages import message_descriptor
from penstock.spark.registry.protobuf.row_decoding import RowDecoder

ALL = message_descriptor(ALL_KINDS, {})
OLD = message_descriptor(PROTO2, {})
descriptors = st.sampled_from([ALL, OLD])


def decode(descriptor: Any, records: list[bytes], *, by_rows: bool = False) -> Decoded:
    decoder = RowDecoder(descriptor) if by_rows else protobuf_decoder(descriptor)
    decoded = decoder.decode(payloads_of(pa.array(records, pa.binary())))
    decoded.values.validate(full=True)
    return decoded


def both(descriptor: Any, records: list[bytes]) -> list[Any]:
    decoded, by_rows = (decode(descriptor, records, by_rows=rows) for rows in (False, True))
    assert not decoded.reasons
    assert decoded.values.type == by_rows.values.type
    assert plain(decoded) == plain(by_rows)
    return list(decoded.values.to_pylist())


def plain(decoded: Decoded) -> list[str]:
    """Each row as text, since NaN is not equal to itself; pairs of maps have no order."""
    return [repr(_sorted(value)) for value in decoded.values.to_pylist()]


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(each) for name, each in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return sorted(((key, _sorted(each)) for key, each in value), key=repr)
    return [_sorted(each) for each in value] if isinstance(value, list) else value


@settings(deadline=None, max_examples=150)
@given(descriptors.flatmap(lambda known: st.tuples(st.just(known), st.lists(messages(known), max_size=4))))
def test_columns_hold_what_the_runtime_wrote(sample: tuple[Any, list[Any]]) -> None:
    descriptor, written = sample
    both(descriptor, [message.SerializeToString() for message in written])


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_records_are_read_as_by_the_runtime_or_not_at_all(data: st.DataObject) -> None:
    descriptor = data.draw(descriptors)
    records = [
        data.draw(damage(message.SerializeToString()))
        for message in data.draw(st.lists(messages(descriptor), min_size=1, max_size=4))
    ]
    decoded, by_rows = (decode(descriptor, records, by_rows=rows) for rows in (False, True))
    for row in range(len(records)):
        if row in decoded.reasons:
            assert not decoded.values[row].is_valid
        else:
            assert row not in by_rows.reasons
            assert plain(decoded)[row] == plain(by_rows)[row]


@st.composite
def damage(draw: st.DrawFn, record: bytes) -> bytes:
    """Some bytes changed, perhaps the end cut off or a part repeated."""
    changed = bytearray(record)
    for _ in range(draw(st.integers(0, 2)) if record else 0):
        changed[draw(st.integers(0, len(record) - 1))] = draw(st.integers(0, 255))
    match draw(st.sampled_from(["whole", "cut", "twice"])):
        case "cut":
            return bytes(changed[: draw(st.integers(0, len(record)))])
        case "twice":
            return bytes(changed + changed)
    return bytes(changed)


def test_fields_that_were_not_set_are_null_or_have_the_value_for_it() -> None:
    [found] = both(ALL, [b""])
    assert (found["a_double"], found["a_string"], found["colour"], found["numbers"]) == (0.0, "", "RED", [])
    assert (found["inner"], found["maybe"], found["text"], found["at"], found["wrapped"]) == (None,) * 5
    assert both(OLD, [b"\x08\x01"]) == [{"id": 1, "name": None, "loose": [], "tight": [], "mood": None}]


def test_unsigned_numbers_names_and_times_are_what_they_mean() -> None:
    message: Any = GetMessageClass(ALL)(
        a_uint32=2**32 - 1, a_uint64=2**64 - 1, a_fixed64=1, colour=-5, colours=[1, 7]
    )
    message.at.FromJsonString("1969-12-31T23:59:59.999999Z")
    message.took.FromMicroseconds(-1)
    message.wrapped.value = ""
    [found] = both(ALL, [message.SerializeToString()])
    assert (found["a_uint32"], found["a_uint64"], found["a_fixed64"]) == (
        2**32 - 1,
        Decimal(2**64 - 1),
        Decimal(1),
    )
    assert (found["colour"], found["colours"], found["wrapped"]) == ("BLUE", ["GREEN", "7"], "")
    assert found["at"].isoformat() == "1969-12-31T23:59:59.999999+00:00"
    assert found["took"] == datetime.timedelta(microseconds=-1)


def test_unknown_fields_are_passed_over() -> None:
    unknown = b"\xf8\x7f\x01" + b"\xf9\x7f" + bytes(8) + b"\xfa\x7f\x02ab" + b"\xfd\x7f" + bytes(4)
    [found] = both(OLD, [unknown + b"\x08\x05"])
    assert found["id"] == 5


def test_number_that_a_closed_enumeration_has_not_is_not_set() -> None:
    [found] = both(OLD, [b"\x08\x05\x28\x09"])
    assert found["mood"] is None


@pytest.mark.parametrize(
    "record",
    [
        b"\x8a\x01\x03\x0a\x01a" + b"\x8a\x01\x03\x0a\x01b",  # A message field twice: merged.
        b"\xc2\x01\x01a" + b"\xc8\x01\x05",  # Two of a oneof: the last counts.
        b"\xba\x01\x02\x08\x01",  # A pair of a map without its message.
        b"\xb2\x01\x05\x0a\x01k\x10\x01" * 2,  # A key twice.
        b"\x98\x01\x05" + b"\x9a\x01\x02\x06\x07",  # One number alone, two packed.
        b"\xf8\x01\x01\xfa\x01\x02\x00\x01",  # Packed, though the schema says otherwise.
        b"\x18\x01\x18\x02",  # A number twice: the last counts.
        b"\x9b\x06\x9c\x06",  # An unknown group.
    ],
)
def test_what_is_unusual_but_allowed_is_read_as_the_runtime_does(record: bytes) -> None:
    both(ALL, [b"", record, b"\x18\x07"])


def test_many_fields_are_read_by_the_runtime() -> None:
    message: Any = GetMessageClass(ALL)(words=["x"] * (ROUNDS_MAX + 1), numbers=list(range(5000)))
    [found] = both(ALL, [message.SerializeToString()])
    assert (len(found["words"]), found["numbers"][-1]) == (ROUNDS_MAX + 1, 4999)


def test_json_types_become_text() -> None:
    text = """
        syntax = "proto3";
        import "google/protobuf/struct.proto";
        message M { google.protobuf.Struct s = 1; }
    """
    descriptor = message_descriptor(text, {})
    message: Any = GetMessageClass(descriptor)()
    message.s.update({"a": [1, None]})
    assert both(descriptor, [message.SerializeToString(), b""]) == [{"s": '{"a": [1.0, null]}'}, {"s": None}]


@pytest.mark.parametrize(
    "record",
    [
        b"\x18",
        b"\x72\x05ab",
        b"\x72\x02\xff\xff",
        b"\x00\x01",
        b"\x1f",
        b"\x09" + bytes(7),
        b"\x8a\x01\x02\x0a\x05",
        b"\xf2\x01\x03abc",
        b"\xda\x01\x0b\x08" + b"\xff" * 8 + b"\x7f\x00",
    ],
)
def test_record_that_does_not_decode_has_a_reason_and_its_neighbours_a_value(record: bytes) -> None:
    decoded = decode(ALL, [b"\x18\x01", record, b""])
    assert [value is None for value in decoded.values.to_pylist()] == [False, True, False]
    assert decoded.reasons[1]


def test_packed_numbers_that_end_too_early_are_bad() -> None:
    for packed in (b"\x9a\x01\x02\x01\x80", b"\xf2\x01\x05" + struct.pack("<I", 1) + b"\0"):
        assert list(decode(ALL, [packed]).reasons) == [0]


def test_empty_message_and_no_rows() -> None:
    empty = message_descriptor('syntax = "proto3"; message Empty {}', {})
    assert both(empty, [b"", b"\x08\x01"]) == [{}, {}]
    assert both(ALL, []) == []
