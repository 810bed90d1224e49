"""What reads as Protobuf, held against Protobuf's own writer."""

import pytest
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from penstock.spark.analysis.value_kinds import looks_like_protobuf


@given(st.integers(1, 2**40), st.integers(1, 999_999_999))
def test_numbers_are_protobuf(seconds: int, nanos: int) -> None:
    assert looks_like_protobuf(Timestamp(seconds=seconds, nanos=nanos).SerializeToString())


@given(st.dictionaries(st.text(min_size=1, max_size=5), st.floats() | st.text(), min_size=1, max_size=4))
def test_nested_messages_are_protobuf(values: dict[str, float | str]) -> None:
    message = Struct()
    message.update(values)
    assert looks_like_protobuf(message.SerializeToString())


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x00\x01",  # field 0
        b"\x0a\x05abc",  # longer than it is
        b"\x08\xff",  # a number without end
        b"\x0b\x08\x01\x0c",  # a group, which nobody writes any more
        b"\x09\x01\x02",  # eight bytes of which there are two
    ],
)
def test_other_bytes_are_not(value: bytes) -> None:
    assert not looks_like_protobuf(value)
