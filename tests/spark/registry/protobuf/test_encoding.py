"""Columns into Protobuf messages: the bytes that the runtime would write."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.registry.protobuf.proto_samples import ALL_KINDS, PROTO2, messages

from penstock.model.errors import UsageError
from penstock.spark.registry.payloads import payloads_of
from penstock.spark.registry.protobuf.decoding import protobuf_decoder
from penstock.spark.registry.protobuf.encoding import encode
from penstock.spark.registry.protobuf.messages import message_descriptor

ALL = message_descriptor(ALL_KINDS, {})
OLD = message_descriptor(PROTO2, {})


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([ALL, OLD]).flatmap(
        lambda known: st.tuples(st.just(known), st.lists(messages(known), max_size=4))
    )
)
def test_messages_are_what_the_runtime_writes(sample: tuple[Any, list[Any]]) -> None:
    descriptor, written = sample
    records = [message.SerializeToString(deterministic=True) for message in written]
    values = protobuf_decoder(descriptor).decode(payloads_of(pa.array(records, pa.binary()))).values
    encoded = encode(values, descriptor)
    encoded.validate(full=True)
    known = GetMessageClass(descriptor)
    again = [known.FromString(record) for record in encoded.to_pylist()]
    assert [message.SerializeToString(deterministic=True) for message in again] == records
    assert [len(record) for record in encoded.to_pylist()] == [len(record) for record in records]


def test_null_is_null_and_missing_columns_are_not_set() -> None:
    column = pa.array([{"an_int32": 5}, None, {"an_int32": None}])
    assert encode(column, ALL).to_pylist() == [b"\x18\x05", None, b""]


def test_part_of_a_column_is_written_alone() -> None:
    column = pa.array([{"words": ["a"], "counts": [("k", 1)]}, {"words": ["b", "c"], "counts": []}] * 2, TYPE)
    assert encode(column[1:2], ALL).to_pylist() == [b"\xa2\x01\x01b\xa2\x01\x01c"]
    assert encode(column[2:], ALL).to_pylist() == encode(column[:2], ALL).to_pylist()


TYPE = pa.struct([("words", pa.list_(pa.string())), ("counts", pa.map_(pa.string(), pa.int64()))])


def test_json_text_becomes_its_message() -> None:
    text = """
        syntax = "proto3";
        import "google/protobuf/struct.proto";
        message M { google.protobuf.Struct s = 1; }
    """
    descriptor = message_descriptor(text, {})
    column = pa.array([{"s": '{"a": [1, null]}'}, {"s": None}])
    read = protobuf_decoder(descriptor).decode(payloads_of(encode(column, descriptor))).values
    assert read.to_pylist() == [{"s": '{"a": [1.0, null]}'}, {"s": None}]
    for wrong, words in ((pa.array([{"s": "{"}]), "s: "), (pa.array([{"s": 1}]), "is JSON text")):
        with pytest.raises(UsageError, match=words):
            encode(wrong, descriptor)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([{"an_int32": 2**31}]), "an_int32: .*2147483648"),
        (pa.array([{"a_uint32": -1}]), "a_uint32: .*-1"),
        (pa.array([{"a_uint64": Decimal("1.5")}]), "not written as uint64"),
        (pa.array([{"a_float": 0.1}]), "double, which is not written as float"),
        (pa.array([{"a_string": 1}]), "a_string is int64, which is not written as string"),
        (pa.array([{"colour": "PINK"}]), "colour: PINK is none of RED, GREEN, BLUE"),
        (pa.array([{"nowhere": 1}]), "has nowhere, which message kinds.All has not"),
        (pa.array([{"inner": {"nowhere": 1}}]), "inner has nowhere"),
        (pa.array([{"inner": 1}]), "inner is int64, which is not written as message kinds.All.Inner"),
        (pa.array([{"at": 1}]), "not written as google.protobuf.Timestamp"),
        (pa.array([{"text": "x", "number": 1}]), "of text, number only one may be set"),
        (pa.array([{"words": ["a", None]}]), "words: Protobuf has no null"),
        (pa.array([{"words": "a"}]), "words is string, and the field is repeated"),
        (pa.array([{"counts": "a"}]), "counts is string, and the field is a map"),
        (
            pa.array([{"counts": [("k", None)]}], pa.struct([("counts", pa.map_(pa.string(), pa.int64()))])),
            "counts: Protobuf has no null",
        ),
        (pa.array([1]), "The column is int64"),
    ],
)
def test_value_that_does_not_fit_is_refused(column: pa.Array, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        encode(column, ALL)


@pytest.mark.parametrize("column", [pa.array([{"name": "x"}]), pa.array([{"id": None}])])
def test_required_field_must_be_set(column: pa.Array) -> None:
    with pytest.raises(UsageError, match="id: a required field is not set"):
        encode(column, OLD)
