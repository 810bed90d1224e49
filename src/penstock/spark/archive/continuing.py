"""Where topics go on behind what an archive has of them."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.model.ids import TopicPartition
from penstock.spark.archive.incarnations import UNKNOWN_ID
from penstock.spark.archive.intervals import Interval, Intervals, outside
from penstock.spark.archive.state import ArchiveState

if TYPE_CHECKING:
    from penstock.spark.reading.lookup import TopicLayout

_OTHERS = "*"
_EARLIEST = -2


def starting_offsets(state: ArchiveState, options: Mapping[str, str]) -> str:
    """The option of that name, for all topics that ``options`` subscribe to.

    Partitions begin behind what is archived of them; those that are new to the archive, and topics that were
    made anew, at their beginning.
    """
    from penstock.spark.options.source_options import check_reading
    from penstock.spark.reading.lookup import Lookup

    asked = check_reading(options)
    layouts = Lookup(asked).layouts(asked.subscription)
    positions: dict[str, dict[str, int]] = defaultdict(dict)
    for topic, layout in layouts.items():
        for partition, offset in _known(state, layout).items():
            positions[topic][str(partition)] = offset
        if topic in positions:
            positions[topic][_OTHERS] = _EARLIEST
    return json.dumps({**positions, _OTHERS: _EARLIEST})


def missed(state: ArchiveState, options: Mapping[str, str]) -> dict[TopicPartition, Intervals]:
    """What topics still have before the end of the archive, though no query that archives was there.

    Such are records from before an archive that was not begun at the beginning.
    """
    from penstock.spark.options.source_options import check_reading
    from penstock.spark.reading.lookup import Lookup

    asked = check_reading(options)
    lookup = Lookup(asked)
    layouts = lookup.layouts(asked.subscription)
    extents = lookup.extents(layouts)
    found = {
        TopicPartition(topic, number): outside(
            state.covered_now(topic, number), Interval(extents[TopicPartition(topic, number)].earliest, end)
        )
        for topic, layout in layouts.items()
        for number, end in _known(state, layout).items()
    }
    return {partition: intervals for partition, intervals in found.items() if intervals}


def _known(state: ArchiveState, layout: "TopicLayout") -> dict[int, int]:
    ids = state.topics.get(layout.name, ())
    is_another = layout.topic_id is not None and ids and ids[-1] not in (layout.topic_id, UNKNOWN_ID)
    next_offsets = {} if is_another else state.next_offsets(layout.name)
    return {
        partition.partition: offset
        for partition, offset in next_offsets.items()
        if partition.partition in layout.leaders
    }
