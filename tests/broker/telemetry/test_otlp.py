"""Pushes are read as they were written, and whatever else comes is refused without harm."""

import random
import time
import zlib

import pytest
from tests.broker.telemetry import otlp_writer as otlp
from tests.broker.telemetry.otlp_writer import (
    attributes,
    blob,
    fixed,
    gauge,
    metrics_data,
    number,
    point,
    total,
)

from penstock.broker.telemetry.otlp import Change, Point, read_points, read_push
from penstock.broker.telemetry.protobuf import FieldReader, read_varint
from penstock.model.errors import DecodeError
from penstock.model.limits import TELEMETRY_FIELDS_MAX, TELEMETRY_UNPACKED_BYTES_MAX
from penstock.records.compression import Codec, compress

FUZZED_PUSHES = 3_000
SECONDS_MAX = 20
"""For one hostile push, on a machine that has other things to do."""


def points_of(data: bytes) -> list[Point]:
    return list(read_points(memoryview(data)))


def test_gauge_is_read_with_its_attributes_and_those_of_its_resource() -> None:
    data = metrics_data([gauge("a.gauge", point(2.5, partition=3, ok=True, part=0.5, below=-1))], rack="r1")
    (found,) = points_of(data)
    assert (found.name, found.value, found.is_counter) == ("a.gauge", 2.5, False)
    assert found.attributes == {"partition": "3", "ok": "true", "part": "0.5", "below": "-1", "rack": "r1"}
    assert found.change is Change.REPLACES


@pytest.mark.parametrize(
    ("temporality", "change"), [(otlp.DELTA, Change.ADDS), (otlp.CUMULATIVE, Change.REPLACES)]
)
@pytest.mark.parametrize("monotonic", [True, False])
def test_sum_says_what_it_does_to_the_one_before(temporality: int, change: Change, monotonic: bool) -> None:
    data = metrics_data([total("a.sum", point(-7), temporality=temporality, monotonic=monotonic)])
    assert points_of(data) == [Point(name="a.sum", value=-7.0, is_counter=monotonic, change=change)]


@pytest.mark.parametrize(("field", "attribute_field"), [(9, 9), (10, 1), (11, 7)])
def test_histograms_and_summaries_are_read_as_count_and_sum(field: int, attribute_field: int) -> None:
    measured = fixed(4, 12) + fixed(5, 1.5) + attributes(attribute_field, {"a": "b"})
    metric = blob(1, "h") + blob(field, blob(1, measured) + number(2, otlp.DELTA))
    found = [
        (each.name, each.value, each.attributes, each.is_counter)
        for each in points_of(metrics_data([metric]))
    ]
    assert found == [("h.count", 12.0, {"a": "b"}, True), ("h.sum", 1.5, {"a": "b"}, False)]


def test_point_without_a_recorded_value_is_none() -> None:
    assert points_of(metrics_data([gauge("g", point(1) + number(8, 1))])) == []


def test_unknown_fields_are_passed_over() -> None:
    unknown = number(99, 5) + blob(100, "x") + fixed(101, 1) + b"\xb5\x06abcd"
    data = metrics_data([gauge("g", point(1) + unknown) + unknown]) + unknown
    assert [each.value for each in points_of(data)] == [1.0]


@pytest.mark.parametrize("codec", Codec)
def test_push_is_read_in_every_codec(codec: Codec) -> None:
    data = metrics_data([gauge("g", point(1))])
    assert [each.name for each in read_push(codec, compress(codec, data))] == ["g"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x0a\xff\xff\xff\xff\x0f", id="longer than there is"),
        pytest.param(b"\x0a" + b"\xff" * 20, id="number without end"),
        pytest.param(b"\x0b\x0c", id="group"),
        pytest.param(metrics_data([gauge("g", blob(4, "x"))]), id="number that is text"),
        pytest.param(b"\x0a", id="cut short"),
    ],
)
def test_malformed_push_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        points_of(data)


def test_more_fields_than_anybody_needs_are_refused() -> None:
    with pytest.raises(DecodeError, match=str(TELEMETRY_FIELDS_MAX)):
        points_of(number(9, 1) * (TELEMETRY_FIELDS_MAX + 1))
    assert list(FieldReader(2).fields(memoryview(number(9, 1) * 2)))
    with pytest.raises(DecodeError, match="more than 2"):
        list(FieldReader(2).fields(memoryview(number(9, 1) * 3)))


def test_push_that_unpacks_to_too_much_is_refused() -> None:
    bomb = compress(Codec.GZIP, bytes(TELEMETRY_UNPACKED_BYTES_MAX + 1))
    assert len(bomb) < 10_000
    with pytest.raises(DecodeError, match=str(TELEMETRY_UNPACKED_BYTES_MAX)):
        read_push(Codec.GZIP, bomb)
    with pytest.raises(DecodeError, match="gzip"):
        read_push(Codec.GZIP, zlib.compress(b"not gzip"))


def test_largest_hostile_push_is_done_with_in_time() -> None:
    began = time.monotonic()
    for data in (
        blob(1, b"") * (TELEMETRY_UNPACKED_BYTES_MAX // 2),
        blob(1, blob(2, blob(2, b"\x2a\x00"))) * 9_999,
    ):
        try:
            read_push(Codec.NONE, data)
        except DecodeError:
            continue
    assert time.monotonic() - began < SECONDS_MAX


def test_varint_takes_sixty_four_bits_and_no_more() -> None:
    assert read_varint(memoryview(otlp.varint(2**64 - 1)), 0) == (2**64 - 1, 10)
    with pytest.raises(DecodeError, match="does not end"):
        read_varint(memoryview(b"\x80" * 11), 0)


def test_damaged_pushes_end_in_points_or_decode_errors() -> None:
    rng = random.Random(714)
    valid = metrics_data(
        [gauge("g", point(1.5, a="b"), point(2)), total("t", point(3, c=4))], rack="r", zone="z"
    )
    refused = 0
    for _ in range(FUZZED_PUSHES):
        data = bytearray(valid)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        try:
            for each in points_of(bytes(data)):
                assert isinstance(each.value, float)
        except DecodeError:
            refused += 1
    assert 0 < refused < FUZZED_PUSHES
