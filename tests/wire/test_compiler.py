"""The language beyond what Kafka's client messages use, and what hostile bytes meet in the readers."""

import subprocess
import sys
import tracemalloc

import pytest

from penstock.model.errors import DecodeError, InvariantError
from penstock.model.limits import ARRAY_ELEMENTS_MAX, TAGGED_FIELD_BYTES_MAX
from penstock.wire.compiler import decode_struct, decoder_for, encode_struct, encoder_for
from penstock.wire.decoder_source import minimum_size
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.primitives import (
    BOOLEAN,
    BYTES,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    STRING,
    UINT16,
    UINT32,
    UUID,
    encode_uvarint,
)
from penstock.wire.schema import (
    Struct,
    array,
    field,
    nullable,
    nullable_array,
    nullable_struct,
    struct,
)


class Inner(Struct):
    """A struct with a tag of its own."""

    number: int = field(INT32, default=-1)
    note: str = field(STRING, "1+", default="none", tag=2)


class Everything(Struct):
    """One field of every kind and form."""

    flag: bool = field(BOOLEAN)
    port: int = field(UINT16)
    wide: int = field(UINT32)
    ratio: float = field(FLOAT64)
    identity: bytes = field(UUID)
    opaque: bytes = field(BYTES)
    maybe_opaque: bytes | None = nullable(BYTES)
    inner: Inner = struct(Inner)
    maybe_inner: Inner | None = nullable_struct(Inner)
    directories: tuple[bytes, ...] = array(UUID)
    names: tuple[str, ...] = array(STRING)
    numbers: tuple[int, ...] | None = nullable_array(INT64)
    inners: tuple[Inner, ...] = array(Inner)
    tagged_text: str | None = nullable(STRING, "1+", tag=5)
    tagged_inner: Inner = struct(Inner, "1+", tag=1)
    tagged_numbers: tuple[int, ...] = array(INT8, "1+", tag=3)
    tagged_ratio: float = field(FLOAT64, "1+", tag=4, default=1.5)
    tagged_maybe_inner: Inner | None = nullable_struct(Inner, "1+", tag=6)
    tagged_maybe_numbers: tuple[int, ...] | None = nullable_array(INT32, "1+", default=None, tag=7)
    tagged_names: tuple[str, ...] | None = nullable_array(STRING, "1+", tag=8)


FULL = Everything(
    flag=True,
    port=65535,
    wide=2**32 - 1,
    ratio=0.25,
    identity=bytes(range(16)),
    opaque=b"\0\xff",
    maybe_opaque=b"",
    inner=Inner(number=1, note="a"),
    maybe_inner=Inner(number=2),
    directories=(b"a" * 16, b"b" * 16),
    names=("x", "yé"),
    numbers=(1, -(2**63)),
    inners=(Inner(), Inner(number=5, note="b" * 300)),
    tagged_text="t",
    tagged_inner=Inner(number=9),
    tagged_numbers=(1, 2, 3),
    tagged_ratio=-2.0,
    tagged_maybe_inner=Inner(number=4),
    tagged_maybe_numbers=(),
    tagged_names=None,
)


@pytest.mark.parametrize("message", [Everything(), FULL])
def test_flexible_struct_of_every_kind_is_read_as_written(message: Everything) -> None:
    encoded = encode_struct(message, version=1, flexible=True)
    assert decode_struct(Everything, encoded, version=1, flexible=True) == message


def test_classic_struct_of_every_kind_is_read_as_written() -> None:
    message = Everything(ratio=2.5, inner=Inner(number=3), maybe_inner=Inner(), numbers=None, opaque=b"z")
    encoded = encode_struct(message, version=0, flexible=False)
    assert decode_struct(Everything, encoded, version=0, flexible=False) == message


def test_tagged_fields_are_written_in_the_order_of_their_tags() -> None:
    class Tagged(Struct):
        """Declared out of order."""

        late: int = field(INT8, tag=7)
        early: int = field(INT8, tag=3)

    assert encode_struct(Tagged(late=1, early=2), version=0, flexible=True).hex() == "02030102070101"


def test_tagged_struct_that_may_be_null_has_a_marker_before_it() -> None:
    class Tagged(Struct):
        """A struct and a list, both null by default."""

        inner: Inner | None = nullable_struct(Inner, tag=0)
        numbers: tuple[int, ...] | None = nullable_array(INT32, default=None, tag=1)

    # Kafka takes a tagged struct that is not there for an empty one, so null is written out.
    assert encode_struct(Tagged(), version=0, flexible=True).hex() == "01000100"
    for text in ("00", "01000100"):
        assert decode_struct(Tagged, bytes.fromhex(text), version=0, flexible=True) == Tagged()
    with pytest.raises(DecodeError, match="1 or 0"):
        decode_struct(Tagged, bytes.fromhex("010001ff"), version=0, flexible=True)
    full = Tagged(inner=Inner(number=7), numbers=(3,))
    assert encode_struct(full, version=0, flexible=True).hex() == "02000601000000070001050200000003"


def test_known_tag_may_be_larger_than_an_unknown_one() -> None:
    class Tagged(Struct):
        """Opaque bytes in a tag."""

        opaque: bytes = field(BYTES, tag=0)

    full = Tagged(opaque=bytes(TAGGED_FIELD_BYTES_MAX + 1))
    encoded = encode_struct(full, version=0, flexible=True)
    assert decode_struct(Tagged, encoded, version=0, flexible=True) == full
    with pytest.raises(DecodeError, match="unknown tagged field 0"):
        decode_struct(Inner, bytes(4) + encoded, version=1, flexible=True)


def test_unknown_tags_are_skipped_around_known_ones() -> None:
    encoded = bytes.fromhex("0000000503010361626302030378790901ff")
    assert decode_struct(Inner, encoded, version=1, flexible=True) == Inner(number=5, note="xy")


def test_known_tag_whose_value_ends_early_is_refused() -> None:
    with pytest.raises(DecodeError, match="note"):
        decode_struct(Inner, bytes.fromhex("0000000501020402787900"), version=1, flexible=True)


def test_known_tag_given_twice_is_refused() -> None:
    twice = bytes.fromhex("0000000502020101020101")
    with pytest.raises(DecodeError, match="follows"):
        decode_struct(Inner, twice, version=1, flexible=True)


def test_five_million_unknown_tags_are_refused_at_once() -> None:
    flood = bytes(4) + encode_uvarint(5_000_000) + bytes(10_000_000)
    with pytest.raises(DecodeError, match="tagged fields"):
        decode_struct(Inner, flood, version=0, flexible=True)


def test_unknown_tags_of_many_elements_share_one_budget() -> None:
    element = bytes(4) + b"\x40" + b"".join(bytes([tag, 0]) for tag in range(64))

    class Many(Struct):
        """Elements whose tags mean nothing."""

        inners: tuple[Inner, ...] = array(Inner)

    flood = encode_uvarint(1601) + element * 1600 + b"\0"
    with pytest.raises(DecodeError, match="too many"):
        decode_struct(Many, flood, version=0, flexible=True)


@pytest.mark.parametrize("marker", [0, 2, -2])
def test_nullable_struct_with_odd_marker_is_refused(marker: int) -> None:
    class Holder(Struct):
        """Holds one or none."""

        inner: Inner | None = nullable_struct(Inner)

    with pytest.raises(DecodeError, match="1 or -1"):
        decode_struct(Holder, bytes([marker & 0xFF]) + bytes(20), version=0, flexible=True)


class Text(Struct):
    """Strings and arrays, null and not."""

    text: str = field(STRING)
    maybe: str | None = nullable(STRING, nulls="1+")
    items: tuple[int, ...] = array(INT32)


@pytest.mark.parametrize(
    ("encoded", "flexible"),
    [
        ("ffff 0000 00000000", False),  # null where null is not allowed
        ("0000 fffe 00000000", False),  # a length below null
        ("0000 0000 ffffffff", False),  # a null array
        ("0000 0000 80000000", False),  # a count far below null
        ("0000 0000 00000002 00000001", False),  # fewer elements than claimed
        ("7fff 6162", False),  # a length beyond the frame
        ("0001 ff 0000 00000000", False),  # not UTF-8
        ("0002 eda0 0000 00000000", False),  # half a surrogate
        ("00 01 01 00", True),  # null where null is not allowed
        ("01 00 00 00", True),  # a null array
        ("01 00 ffffffff0f 00", True),  # a count of four billion
        ("ffffffff0f 00", True),  # a length of four billion
    ],
)
def test_nonsense_is_refused(encoded: str, flexible: bool) -> None:
    with pytest.raises(DecodeError):
        decode_struct(Text, bytes.fromhex(encoded), version=1, flexible=flexible)


def test_null_at_version_that_forbids_it_is_refused_and_not_written() -> None:
    encoded = encode_struct(Text(maybe=None), version=1, flexible=False)
    assert decode_struct(Text, encoded, version=1, flexible=False).maybe is None
    with pytest.raises(DecodeError, match="maybe"):
        decode_struct(Text, encoded, version=0, flexible=False)
    with pytest.raises(InvariantError, match="Text version 0"):
        encode_struct(Text(maybe=None), version=0, flexible=False)


def test_compact_string_beyond_an_int16_is_refused_though_present() -> None:
    encoded = encode_uvarint(0x8001) + b"a" * 0x8000 + b"\x01\x01\x00"
    with pytest.raises(DecodeError, match="32768"):
        decode_struct(Text, encoded, version=1, flexible=True)


@pytest.mark.parametrize(
    "message",
    [Text(text="\ud800", maybe=""), Text(text="x" * 40_000, maybe=""), Text(maybe="", items=(2**31,))],
)
@pytest.mark.parametrize("flexible", [False, True])
def test_message_that_does_not_fit_is_our_bug(message: Text, flexible: bool) -> None:
    with pytest.raises(InvariantError):
        encode_struct(message, version=0, flexible=flexible)


def test_minimum_size_counts_every_field_of_the_version() -> None:
    assert minimum_size(Text, 0, flexible=False) == 2 + 2 + 4
    assert minimum_size(Text, 0, flexible=True) == 1 + 1 + 1 + 1
    assert minimum_size(Inner, 1, flexible=True) == 4 + 1


def test_array_that_cannot_fit_is_refused_before_it_is_built() -> None:
    encoded = encode_uvarint(90_001) + bytes(90_000)
    with pytest.raises(DecodeError, match="90000 elements"):
        decode_struct(MetadataRequest, encoded, version=12, flexible=True)


def test_elements_of_all_arrays_share_one_budget() -> None:
    partitions = tuple([FetchPartition()] * (ARRAY_ELEMENTS_MAX // 2))
    topics = (FetchTopic(partitions=partitions), FetchTopic(partitions=partitions))
    encoded = encode_struct(FetchRequest(topics=topics), version=12, flexible=True)
    with pytest.raises(DecodeError, match="50000 elements"):
        decode_struct(FetchRequest, encoded, version=12, flexible=True)


def test_budget_is_what_the_caller_says() -> None:
    encoded = encode_struct(Everything(names=("a", "b", "c")), version=0, flexible=False)
    assert decode_struct(Everything, encoded, version=0, flexible=False, elements_max=3).names == (
        "a",
        "b",
        "c",
    )
    with pytest.raises(DecodeError, match="3 elements"):
        decode_struct(Everything, encoded, version=0, flexible=False, elements_max=2)


@pytest.mark.slow
def test_largest_request_costs_bounded_memory() -> None:
    partitions = tuple([FetchPartition(fetch_offset=2**40)] * (ARRAY_ELEMENTS_MAX - 1))
    request = FetchRequest(topics=(FetchTopic(partitions=partitions),))
    encoded = encode_struct(request, version=12, flexible=True)
    tracemalloc.start()
    try:
        decoded = decode_struct(FetchRequest, encoded, version=12, flexible=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert decoded == request
    assert peak < 64 * 1024 * 1024


def test_largest_number_of_names_is_read() -> None:
    topics = tuple([MetadataRequestTopic(name="t")] * ARRAY_ELEMENTS_MAX)
    encoded = encode_struct(MetadataRequest(topics=topics), version=1, flexible=False)
    assert decode_struct(MetadataRequest, encoded, version=1, flexible=False).topics == topics


def test_readers_and_writers_are_made_once() -> None:
    assert decoder_for(Inner, 1, True) is decoder_for(Inner, 1, True)
    assert encoder_for(Inner, 1, True) is encoder_for(Inner, 1, True)


@pytest.mark.slow
def test_nothing_is_compiled_at_import() -> None:
    program = (
        "made = []\n"
        "import penstock.wire.codegen as codegen\n"
        "codegen.Source.compile = lambda *a: made.append(a)\n"
        "import penstock.wire.framing\n"
        "assert not made, made\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
