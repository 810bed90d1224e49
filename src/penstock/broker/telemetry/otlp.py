"""What a push says: OpenTelemetry's ``MetricsData`` as points, one number each.

Of histograms and summaries the count and the sum are kept, as metrics of their own. Clients built on the Java
and C libraries send gauges and sums only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from penstock.broker.telemetry.protobuf import (
    FIXED64,
    VARINT,
    FieldReader,
    FieldValue,
    double,
    signed,
    text,
    unsigned,
)
from penstock.model.errors import DecodeError
from penstock.model.limits import TELEMETRY_UNPACKED_BYTES_MAX
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError

_DELTA: Final = 1
_NO_RECORDED_VALUE: Final = 1
"""A flag: the series has ended."""

_GAUGE, _SUM, _HISTOGRAM, _EXPONENTIAL, _SUMMARY = 5, 7, 9, 10, 11
"""Fields of a metric, one of which holds its points."""

_ATTRIBUTES = {_GAUGE: 7, _SUM: 7, _HISTOGRAM: 9, _EXPONENTIAL: 1, _SUMMARY: 7}
"""The field of a point that holds its attributes."""

_NUMBERS = (_GAUGE, _SUM)


class Change(Enum):
    """What a number does to the one before it."""

    REPLACES = "replaces"
    ADDS = "adds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One number of one series."""

    name: str
    value: float
    attributes: Mapping[str, str] = field(default_factory=dict)
    #: It only grows, as a counter does.
    is_counter: bool = False
    change: Change = Change.REPLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How the points of one metric are to be read."""

    name: str
    number: int
    is_monotonic: bool = False
    change: Change = Change.REPLACES


def read_push(compression_type: int, metrics: bytes) -> list[Point]:
    """All points of a push; ``DecodeError`` when it is no push, or more than anybody needs to say."""
    try:
        unpacked = decompress(compression_type, metrics, TELEMETRY_UNPACKED_BYTES_MAX)
    except CorruptBatchError as error:
        raise DecodeError(str(error)) from error
    return list(read_points(memoryview(unpacked)))


def read_points(data: memoryview) -> Iterator[Point]:
    """The points of a ``MetricsData``, with the attributes of their resources."""
    reader = FieldReader()
    for resource_metrics in reader.messages(data, 1):
        shared: dict[str, str] = {}
        for resource in reader.messages(resource_metrics, 1):
            shared |= _attributes(reader, resource, 1)
        for scope_metrics in reader.messages(resource_metrics, 2):
            for metric in reader.messages(scope_metrics, 2):
                yield from _metric_points(reader, metric, shared)


def _metric_points(reader: FieldReader, metric: memoryview, shared: Mapping[str, str]) -> Iterator[Point]:
    name = ""
    found: list[tuple[int, memoryview]] = []
    for number, _, value in reader.fields(metric):
        if number == 1:
            name = text(value)
        elif number in _ATTRIBUTES and isinstance(value, memoryview):
            found.append((number, value))
    for number, data in found:
        yield from _data_points(reader, data, _Kind(name=name, number=number), shared)


def _data_points(
    reader: FieldReader, data: memoryview, kind: _Kind, shared: Mapping[str, str]
) -> Iterator[Point]:
    points: list[memoryview] = []
    is_monotonic, change = False, Change.REPLACES
    for number, wire_type, value in reader.fields(data):
        if number == 1 and isinstance(value, memoryview):
            points.append(value)
        elif number == 2 and wire_type == VARINT:
            change = Change.ADDS if value == _DELTA else Change.REPLACES
        elif number == 3 and wire_type == VARINT:
            is_monotonic = bool(value)
    if kind.number == _GAUGE:
        is_monotonic, change = False, Change.REPLACES
    whole = _Kind(name=kind.name, number=kind.number, is_monotonic=is_monotonic, change=change)
    for point in points:
        yield from _numbers(reader, point, whole, shared)


def _numbers(
    reader: FieldReader, point: memoryview, kind: _Kind, shared: Mapping[str, str]
) -> Iterator[Point]:
    values: dict[int, FieldValue] = {}
    attributes = dict(shared)
    for number, wire_type, value in reader.fields(point):
        if number == _ATTRIBUTES[kind.number] and isinstance(value, memoryview) and wire_type != FIXED64:
            attributes |= _attribute(reader, value)
        else:
            values[number] = value
    if kind.number in _NUMBERS:
        yield from _number(values, kind, attributes)
        return
    for suffix, found in (("count", _count(values)), ("sum", _sum(values))):
        if found is not None:
            yield Point(
                name=f"{kind.name}.{suffix}",
                value=found,
                attributes=attributes,
                is_counter=suffix == "count",
                change=kind.change,
            )


def _number(values: Mapping[int, FieldValue], kind: _Kind, attributes: Mapping[str, str]) -> Iterator[Point]:
    flags = values.get(8, 0)
    if isinstance(flags, int) and flags & _NO_RECORDED_VALUE:
        return
    # A number that is 0 need not be there at all, in some writers' minds.
    value = double(values[4]) if 4 in values else float(signed(values[6])) if 6 in values else 0.0
    yield Point(
        name=kind.name,
        value=value,
        attributes=attributes,
        is_counter=kind.is_monotonic,
        change=kind.change,
    )


def _count(values: Mapping[int, FieldValue]) -> float | None:
    return float(unsigned(values[4])) if 4 in values else None


def _sum(values: Mapping[int, FieldValue]) -> float | None:
    return double(values[5]) if 5 in values else None


def _attributes(reader: FieldReader, message: memoryview, number: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in reader.messages(message, number):
        found |= _attribute(reader, pair)
    return found


def _attribute(reader: FieldReader, pair: memoryview) -> dict[str, str]:
    """A key and its value as text; lists and maps have none."""
    key, value = "", ""
    for number, _, found in reader.fields(pair):
        if number == 1:
            key = text(found)
        elif number == 2 and isinstance(found, memoryview):
            value = _any_value(reader, found)
    return {key: value} if key else {}


def _any_value(reader: FieldReader, message: memoryview) -> str:
    for number, wire_type, value in reader.fields(message):
        match number:
            case 1:
                return text(value)
            case 2:
                return "true" if value else "false"
            case 3 if isinstance(value, int):
                return str(value - 2**64 if value >= 2**63 else value)
            case 4 if wire_type == FIXED64:
                return str(double(value))
    return ""
