"""From places that options name to offsets, by what was looked up in the partitions."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.positions import Boundary, Place, Position
from penstock.spark.options.definition import OptionError


class Extent(NamedTuple):
    """What a partition holds: its first offset, and the one that comes after its last."""

    earliest: int
    latest: int


Extents = Mapping[TopicPartition, Extent]


def choose_positions(
    boundary: Boundary, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, Position]:
    """The position for each partition; it is an error if one is not spoken of, or one that is not there."""
    _refuse_strangers(boundary, partitions)
    chosen: dict[TopicPartition, Position] = {}
    missing: list[TopicPartition] = []
    for partition in sorted(partitions):
        position = boundary.position(partition)
        if position is None:
            missing.append(partition)
        else:
            chosen[partition] = position
    if missing:
        raise OptionError(
            f"Option {boundary.option} says nothing of {_some(missing)}: name every partition, or all others "
            'at once with "*", as in {"' + missing[0].topic + '":{"*":-2}}.'
        )
    return chosen


def times_to_look_up(
    positions: Mapping[TopicPartition, Position], *, now_ms: int
) -> dict[TopicPartition, int]:
    """The timestamps whose offsets have to be asked for."""
    return {
        partition: position.number if position.place is Place.TIMESTAMP else max(0, now_ms - position.number)
        for partition, position in positions.items()
        if position.place in (Place.TIMESTAMP, Place.AGO)
    }


def resolve_start(
    positions: Mapping[TopicPartition, Position],
    extents: Extents,
    found: Mapping[TopicPartition, int | None],
    *,
    option: str,
    begins_at_end_without_match: bool,
) -> dict[TopicPartition, int]:
    """Where to begin; ``found`` has the offsets of times. An offset that is gone is left as it was named."""
    offsets: dict[TopicPartition, int] = {}
    for partition, position in positions.items():
        extent = extents[partition]
        if partition in found:
            at_time = found[partition]
            # Who asks for a time relative to now means what is there of it, be that nothing.
            is_strict = position.place is Place.TIMESTAMP and not begins_at_end_without_match
            if at_time is None and is_strict:
                raise OptionError(
                    f"Option {option} is {position} for {partition}, which has no record as late as that. "
                    "Name an earlier time, or say startingOffsetsByTimestampStrategy=latest to begin at the "
                    "end."
                )
            offsets[partition] = extent.latest if at_time is None else min(at_time, extent.latest)
        else:
            offsets[partition] = _offset(position, extent)
        _refuse_beyond(offsets[partition], extent, partition, option=option)
    return offsets


def resolve_end(
    positions: Mapping[TopicPartition, Position],
    extents: Extents,
    found: Mapping[TopicPartition, int | None],
    *,
    option: str,
) -> dict[TopicPartition, int]:
    """Where to end; the end of the partition where no record is as late as the time named."""
    offsets: dict[TopicPartition, int] = {}
    for partition, position in positions.items():
        extent, at_time = extents[partition], found.get(partition)
        offsets[partition] = _offset(position, extent) if at_time is None else min(at_time, extent.latest)
        _refuse_beyond(offsets[partition], extent, partition, option=option)
    return offsets


def _offset(position: Position, extent: Extent) -> int:
    match position.place:
        case Place.EARLIEST:
            return extent.earliest
        case Place.OFFSET:
            return position.number
        case Place.BEFORE_END:
            return max(extent.earliest, extent.latest - position.number)
        case Place.LATEST | Place.TIMESTAMP | Place.AGO:
            return extent.latest


def _refuse_strangers(boundary: Boundary, partitions: Collection[TopicPartition]) -> None:
    topics = {partition.topic for partition in partitions}
    strangers = [partition for partition in sorted(boundary.partitions) if partition not in partitions]
    if strangers:
        raise OptionError(f"Option {boundary.option} names {_some(strangers)}, which is not read here.")
    unknown = sorted(boundary.named_topics() - topics)
    if unknown:
        raise OptionError(f"Option {boundary.option} names topic {unknown[0]!r}, which is not read here.")


def _refuse_beyond(offset: int, extent: Extent, partition: TopicPartition, *, option: str) -> None:
    if offset > extent.latest:
        raise OptionError(
            f"Option {option} is {offset} for {partition}, which ends at offset {extent.latest}: name an "
            f"offset up to {extent.latest}, or latest."
        )


def _some(partitions: list[TopicPartition]) -> str:
    shown = ", ".join(map(str, partitions[:5]))
    return shown if len(partitions) <= 5 else f"{shown} and {len(partitions) - 5} more"
