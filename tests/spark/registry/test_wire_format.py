"""The tag of a record: as Confluent's own client writes it, and what is none."""

import contextlib
import uuid

import pytest
from confluent_kafka.schema_registry.serde import SchemaId
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.registry.wire_format import (
    MESSAGE_DEPTH_MAX,
    Tag,
    WireFormatError,
    build_prefix,
    read_tag,
)

GUID = "89791762-2336-186f-9674-299b90a802e2"
indexes = st.lists(st.integers(0, 2**20), min_size=1, max_size=5)


@given(st.integers(0, 2**32 - 1))
def test_prefix_is_what_the_registrys_client_writes(schema_id: int) -> None:
    prefix = build_prefix(schema_id)
    assert prefix == SchemaId("AVRO", schema_id).id_to_bytes()
    assert read_tag(prefix + b"record", has_indexes=False) == (Tag(schema_id=schema_id), 5)


@given(indexes)
def test_message_indexes_are_what_the_registrys_client_writes(way: list[int]) -> None:
    prefix = build_prefix(7, way)
    assert prefix == SchemaId("PROTOBUF", 7, message_indexes=way).id_to_bytes()
    tag, end = read_tag(prefix + b"record", has_indexes=True)
    assert (tag.message_indexes, end) == (tuple(way), len(prefix))


def test_first_message_is_one_byte() -> None:
    assert build_prefix(1, [0]) == b"\0\0\0\0\1\0"


@given(indexes)
def test_guid_is_read_as_the_registrys_client_writes_it(way: list[int]) -> None:
    header = SchemaId("PROTOBUF", guid=GUID, message_indexes=way).guid_to_bytes()
    assert read_tag(header, has_indexes=True) == (Tag(guid=GUID, message_indexes=tuple(way)), len(header))
    assert uuid.UUID(GUID).bytes == header[1:17]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\2abcd", "magic byte 2"),
        (b"{}", "magic byte 123"),
        (b"\0\0\0\1", "4 bytes are too few for a schema id"),
        (b"\1" + bytes(15), "16 bytes are too few for a schema GUID"),
        (b"\0\0\0\0\1", "ends inside the message indexes"),
        (b"\0\0\0\0\1\x04\0", "ends inside the message indexes"),
        (b"\0\0\0\0\1\x01", "-1 message indexes"),
        (b"\0\0\0\0\1\xff\xff\xff\xff\xff", "longer than 5 bytes"),
        (build_prefix(1, [0] * (MESSAGE_DEPTH_MAX + 1)), f"0 to {MESSAGE_DEPTH_MAX}"),
    ],
)
def test_what_is_no_tag_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(WireFormatError, match=reason):
        read_tag(data, has_indexes=True)


@given(st.binary(max_size=30), st.booleans())
def test_any_bytes_are_a_tag_or_have_a_reason(data: bytes, has_indexes: bool) -> None:
    with contextlib.suppress(WireFormatError):
        _, end = read_tag(data, has_indexes=has_indexes)
        assert end <= len(data)
