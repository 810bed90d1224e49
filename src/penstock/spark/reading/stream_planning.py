"""How far the next micro-batch of a stream goes.

Spark asks again and again: at once after a micro-batch, and every few milliseconds while nothing new is
there, so questions to brokers are spaced out then. Spark's own commit log is ahead of every question: the
offset that a question starts from is committed, and the group of the query is told so.
"""

import time
from collections.abc import Mapping
from dataclasses import replace

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.positions import MOVING, Place
from penstock.spark.offsets.stream_offset import StreamOffset
from penstock.spark.offsets.stream_steps import (
    backlog,
    begin_offsets,
    is_behind,
    limited,
    moves,
    not_before,
)
from penstock.spark.options.source_options import OnDataLoss, SourceOptions
from penstock.spark.reading.group_commits import GroupCommits, group_for
from penstock.spark.reading.lookup import Layouts, Lookup
from penstock.spark.reading.planning import check_complete, starting_offsets
from penstock.spark.reading.stream_losses import StreamLosses

IDLE_SECONDS = 0.05
"""Between two questions to the brokers while nothing new is there."""

BUSY_SECONDS = 0.5
"""Between two questions while more is known to be there than the micro-batches until then may take."""


class StreamPlanner:
    """Plans for one query, in a process of its own that lives as long as the query."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._lookup = Lookup(options)
        self._commits = GroupCommits(options)
        self._losses = StreamLosses(options, self._lookup)
        self._layouts: Layouts = {}
        self._layouts_until = 0.0
        self._idle_until = 0.0
        self._known_until = 0.0
        self._triggered_at = float("-inf")
        #: Where a query without a checkpoint begins, once it was asked for: Spark does so more than once.
        self._initial: StreamOffset | None = None
        #: The same for as long as no micro-batch has ended there; None where it can be found again.
        self._to_remember: StreamOffset | None = None
        #: Where an AvailableNow run ends; None for streams without end.
        self._target: StreamOffset | None = None
        #: The ends of all partitions when they were last looked up; for whoever wants to know the lag.
        self.latest_known: StreamOffset | None = None

    def initial(self) -> StreamOffset:
        """Where a query without a checkpoint begins."""
        if self._initial is None:
            self._initial = self._find_initial()
            self._to_remember = self._initial if begins_at_moving_place(self._options) else None
        return self._initial

    def set_target(self) -> None:
        """Read what is there now, and nothing that comes later."""
        self._target = self._look_up_latest()

    def next_end(self, start: StreamOffset, *, has_limits: bool) -> StreamOffset:
        """Where the micro-batch that begins at ``start`` ends; ``start`` itself if there is nothing to do."""
        self._wait_while_idle()
        latest = self._losses.check(start, self._reachable(start, has_limits=has_limits))
        if self._takes_note_of(start, has_limits=has_limits):
            return start
        end = self._limited(start, latest) if has_limits else latest
        if not moves(start, end):
            self._commits.complete(self._still_known(start))
            self._idle_until = time.monotonic() + IDLE_SECONDS
            return start
        self._commits.begin(self._still_known(start))
        self._triggered_at = time.monotonic()
        return replace(end, group_id=group_for(self._options, start.group_id))

    def note_planned(self) -> None:
        """Spark has written down where a micro-batch ends: that is where it goes on from after a crash."""
        self._to_remember = None

    def stop(self) -> None:
        """The query has ended; what its group is being told is still told."""
        self._commits.finish()

    def _find_initial(self) -> StreamOffset:
        layouts = self._lookup.layouts(self._options.subscription)
        check_complete(self._options.subscription, layouts)
        starts = starting_offsets(self._options, self._lookup, self._lookup.extents(layouts))
        return replace(_stream_offset(starts, layouts), group_id=group_for(self._options, None))

    def _takes_note_of(self, start: StreamOffset, *, has_limits: bool) -> bool:
        """Whether this is the first micro-batch, which is to read nothing: all it does is remember the start.

        Spark does not keep where a query begins, only where its micro-batches end. A first one that is
        repeated after a crash begins where ``initial`` says then, and that may be behind what it was to read.
        There is no second one with ``Trigger.Once``, so it is the one trigger that this leaves alone.
        """
        begun, self._to_remember = self._to_remember, None
        return has_limits and begun is not None and begun.offsets == start.offsets

    def _wait_while_idle(self) -> None:
        if self._target is None:
            time.sleep(max(0.0, self._idle_until - time.monotonic()))

    def _reachable(self, start: StreamOffset, *, has_limits: bool) -> StreamOffset:
        """The end of everything that may be read now."""
        if self._target is None:
            known = self._known_to_suffice(start) if has_limits else None
            return known or self._look_up_latest()
        fresh = self._look_up_latest().offsets if is_behind(self._target, start) else {}
        return not_before(start, self._target, fresh)

    def _known_to_suffice(self, start: StreamOffset) -> StreamOffset | None:
        """What was looked up a moment ago, if a micro-batch of the largest size does not reach its end."""
        known, limit = self.latest_known, self._options.offsets_per_trigger_max
        if known is None or limit is None or time.monotonic() >= self._known_until or is_behind(known, start):
            return None
        waiting = sum(backlog(begin_offsets(start, known), known.offsets).values())
        return known if waiting > limit else None

    def _still_known(self, start: StreamOffset) -> StreamOffset:
        """Without what is remembered and not there: a group that is told of that takes nothing at all."""
        there = {} if self.latest_known is None else self.latest_known.offsets
        return replace(start, offsets={key: offset for key, offset in start.offsets.items() if key in there})

    def _look_up_latest(self) -> StreamOffset:
        layouts = self._current_layouts()
        ends = self._lookup.latest_found(layouts)
        if any(partition not in ends for layout in layouts.values() for partition in layout.partitions):
            # What is missing may be gone: it is waited for only if it is still there.
            self._layouts = {}
            layouts = self._current_layouts()
            ends = self._lookup.latest(layouts)
        self.latest_known = _stream_offset(ends, layouts)
        self._known_until = time.monotonic() + BUSY_SECONDS
        return self.latest_known

    def _current_layouts(self) -> Layouts:
        if not self._layouts or time.monotonic() >= self._layouts_until:
            self._layouts = self._lookup.layouts(self._options.subscription)
            self._layouts_until = time.monotonic() + self._options.metadata_ttl_ms / 1000
        return self._layouts

    def _limited(self, start: StreamOffset, latest: StreamOffset) -> StreamOffset:
        begins = begin_offsets(start, latest)
        waiting = sum(backlog(begins, latest.offsets).values())
        if self._waits_for_more(waiting):
            return start
        limit = self._options.offsets_per_trigger_max
        if limit is None or waiting <= limit:
            return latest
        return limited(self._still_there(begins), latest, limit=limit)

    def _waits_for_more(self, waiting: int) -> bool:
        least = self._options.offsets_per_trigger_min
        if least is None or waiting >= least or self._target is not None:
            return False
        return time.monotonic() - self._triggered_at < self._options.trigger_delay_ms_max / 1000

    def _still_there(self, begins: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Where there is something to read: a query that may skip what is gone does not count that."""
        if self._options.on_data_loss is OnDataLoss.FAIL:
            return begins
        earliest = self._lookup.earliest_found(self._current_layouts())
        return {partition: max(begin, earliest.get(partition, begin)) for partition, begin in begins.items()}


def begins_at_moving_place(options: SourceOptions) -> bool:
    """Whether a query that begins a moment later, with the same options, begins elsewhere."""
    places = options.starting.places()
    return bool(places & MOVING) or (Place.TIMESTAMP in places and options.begins_at_end_without_match)


def _stream_offset(offsets: Mapping[TopicPartition, int], layouts: Layouts) -> StreamOffset:
    ids = {name: layout.topic_id for name, layout in layouts.items()}
    return StreamOffset(
        offsets=offsets,
        topic_ids={name: topic_id for name, topic_id in ids.items() if topic_id is not None},
    )
