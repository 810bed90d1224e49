"""Which ranges of offsets a batch reads: by metadata and offsets only, before any record is fetched."""

import logging
import time
from collections.abc import Mapping

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.pushdown import EVERYTHING, Bounds, within_time
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.offsets.resolving import (
    Extents,
    choose_positions,
    resolve_end,
    resolve_start,
    times_to_look_up,
)
from penstock.spark.options.definition import OptionError
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.options.subscriptions import Assign, Subscribe, SubscribePattern, Subscription
from penstock.spark.reading.data_loss import Cause, Loss, handle_loss
from penstock.spark.reading.lookup import Layouts, Lookup

Offsets = dict[TopicPartition, int]

_log = logging.getLogger(__name__)


def plan_batch(options: SourceOptions, bounds: Bounds = EVERYTHING) -> list[OffsetRange]:
    """The range of every partition that filters allow, empty ones too."""
    lookup = Lookup(options)
    layouts = lookup.layouts(options.subscription)
    check_complete(options.subscription, layouts)
    extents = lookup.extents(layouts)
    starts = starting_offsets(options, lookup, extents)
    ends = ending_offsets(options, lookup, extents)
    _check_order(options, starts, ends)
    ranges = bounds.narrow(
        OffsetRange(
            partition=partition,
            start=starts[partition],
            end=ends[partition],
            topic_id=layouts[partition.topic].topic_id,
        )
        for partition in sorted(extents)
    )
    return within_time(ranges, lookup.offsets_at(bounds.times(ranges)))


def check_complete(subscription: Subscription, layouts: Layouts) -> None:
    """Raise if something that is named does not exist. A pattern may match nothing, or nothing yet."""
    there = {partition for layout in layouts.values() for partition in layout.partitions}
    match subscription:
        case Subscribe(topics=topics):
            missing = [f"topic {topic!r}" for topic in topics if topic not in layouts]
        case Assign(partitions=partitions):
            missing = [f"partition {partition}" for partition in partitions if partition not in there]
        case SubscribePattern():
            missing = []
            if not layouts:
                _log.warning("No topic matches %s.", subscription)
    if missing:
        raise OptionError(f"There is no {missing[0]} for {subscription}: see what penstock topic list shows.")


def starting_offsets(options: SourceOptions, lookup: Lookup, extents: Extents) -> Offsets:
    """Where to begin. What is named but gone is a loss, handled as the options say."""
    positions = choose_positions(options.starting, extents.keys())
    times = times_to_look_up(positions, now_ms=_now_ms())
    starts = resolve_start(
        positions,
        extents,
        lookup.offsets_at(times),
        option=options.starting.option,
        begins_at_end_without_match=options.begins_at_end_without_match,
    )
    return {
        partition: _not_before(extents[partition].earliest, start, partition, options=options)
        for partition, start in starts.items()
    }


def ending_offsets(options: SourceOptions, lookup: Lookup, extents: Extents) -> Offsets:
    """Where to end."""
    positions = choose_positions(options.ending, extents.keys())
    times = times_to_look_up(positions, now_ms=_now_ms())
    return resolve_end(positions, extents, lookup.offsets_at(times), option=options.ending.option)


def _not_before(earliest: int, start: int, partition: TopicPartition, *, options: SourceOptions) -> int:
    if start >= earliest:
        return start
    handle_loss(
        Loss(partition=partition, start=start, end=earliest, cause=Cause.REMOVED), options.on_data_loss
    )
    return earliest


def _check_order(
    options: SourceOptions,
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> None:
    """Offsets that were named in the wrong order are a mistake; times may well lie between two records."""
    for partition in options.starting.partitions.keys() & options.ending.partitions.keys():
        if starts[partition] > ends[partition]:
            raise OptionError(
                f"{partition} is to be read from offset {starts[partition]} ({options.starting.option}) to "
                f"offset {ends[partition]} ({options.ending.option}), which comes before it."
            )


def _now_ms() -> int:
    return int(time.time() * 1000)
