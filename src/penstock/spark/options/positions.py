"""Positions as options write them: words, numbers, times, and JSON for each partition.

Beyond what Spark's Kafka connector takes: ``"*"`` for all other partitions or topics, ``"-1000"`` (also with
``records`` behind it) for so many records before the end, ``"-10 minutes"`` for so long ago, and ISO 8601
for times.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.positions import EARLIEST, LATEST, Boundary, Place, Position
from penstock.spark.options.definition import Kind
from penstock.spark.options.kinds import LONG_MAX, duration_ms, is_duration_with_unit

OTHERS = "*"
"""All partitions, or topics, that are not named."""

_LATEST_NUMBER = -1
_EARLIEST_NUMBER = -2
_COUNT = re.compile(r"-(\d+)(\s+records?)?")
_RELATIVE_EXAMPLES = '"-1000" (records before the end) or "-10 minutes"'

Parse = Callable[[Any], Position]


def parse_offsets(text: str) -> Boundary:
    """``earliest``, ``latest``, a relative position, or JSON with a position for each partition."""
    stripped = text.strip()
    if stripped.startswith("{"):
        return _parse_json(stripped, _offset_position)
    return Boundary(option="", everywhere=_offset_word(stripped))


def parse_timestamp(text: str) -> Boundary:
    """One time for all partitions."""
    return Boundary(option="", everywhere=_time_word(text.strip()))


def parse_timestamps(text: str) -> Boundary:
    """JSON with a time for each partition."""
    return _parse_json(text.strip(), _time_position)


OFFSETS = Kind(
    name="positions",
    parse=parse_offsets,
    expected=(
        'earliest, latest, or JSON such as {"topicA":{"0":23,"1":-1},"topicB":{"*":-2}}, where -1 is latest, '
        f'-2 is earliest and "*" means all others; relative positions are {_RELATIVE_EXAMPLES}'
    ),
)
TIMESTAMP = Kind(
    name="timestamp",
    parse=parse_timestamp,
    expected="milliseconds since 1970, a time such as 2026-01-31T08:00:00Z, or -10 minutes",
)
TIMESTAMPS = Kind(
    name="timestamps",
    parse=parse_timestamps,
    expected='JSON with milliseconds since 1970 such as {"topicA":{"0":1769846400000,"*":1769846400000}}',
)


def _parse_json(text: str, parse: Parse) -> Boundary:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from error
    everywhere: Position | None = None
    topics: dict[str, Position] = {}
    partitions: dict[TopicPartition, Position] = {}
    for topic, named in _object(document).items():
        if topic == OTHERS:
            everywhere = parse(named[OTHERS] if isinstance(named, dict) and set(named) == {OTHERS} else named)
            continue
        for number, value in _object(named).items():
            if number == OTHERS:
                topics[topic] = parse(value)
            else:
                partitions[TopicPartition(topic, _partition_number(number))] = parse(value)
    return Boundary(option="", everywhere=everywhere, topics=topics, partitions=partitions)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} stands where an object belongs")
    return value


def _partition_number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text!r} is no number of a partition")
    return int(text)


def _offset_position(value: Any) -> Position:
    if isinstance(value, str):
        return _offset_word(value.strip())
    if not isinstance(value, int) or isinstance(value, bool) or not _EARLIEST_NUMBER <= value <= LONG_MAX:
        raise ValueError(f"{value!r} is no offset; relative positions are texts such as {_RELATIVE_EXAMPLES}")
    if value == _LATEST_NUMBER:
        return LATEST
    return EARLIEST if value == _EARLIEST_NUMBER else Position(Place.OFFSET, value)


def _offset_word(text: str) -> Position:
    lowered = text.lower()
    if lowered in ("earliest", "latest"):
        return EARLIEST if lowered == "earliest" else LATEST
    if match := _COUNT.fullmatch(lowered):
        return _count_position(int(match.group(1)), is_spelled_out=match.group(2) is not None)
    if lowered.startswith("-") and is_duration_with_unit(lowered[1:]):
        return Position(Place.AGO, duration_ms(lowered[1:]))
    if lowered.isdecimal():
        raise ValueError("one offset for all partitions is of no use: write JSON")
    raise ValueError(f"{text!r} is no position")


def _count_position(count: int, *, is_spelled_out: bool) -> Position:
    if count in (-_LATEST_NUMBER, -_EARLIEST_NUMBER) and not is_spelled_out:
        word = "latest" if count == -_LATEST_NUMBER else "earliest"
        raise ValueError(f'the text "-{count}" could mean two things: write "{word}" or "-{count} records"')
    return Position(Place.BEFORE_END, count)


def _time_position(value: Any) -> Position:
    if isinstance(value, str):
        return _time_word(value.strip())
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LONG_MAX:
        raise ValueError(f"{value!r} is no timestamp in milliseconds")
    return Position(Place.TIMESTAMP, value)


def _time_word(text: str) -> Position:
    if text.isdecimal():
        return _time_position(int(text))
    if text.startswith("-") and is_duration_with_unit(text[1:]):
        return Position(Place.AGO, duration_ms(text[1:]))
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no time") from None
    aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    return _time_position(round(aware.timestamp() * 1000))
