"""What Spark calls to read topics as a stream."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from penstock.spark.offsets.stream_offset import parse_stream_offset
from penstock.spark.offsets.stream_steps import ranges_between
from penstock.spark.options.kinds import LONG_MAX
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.reading.batch_reader import input_partitions, read_partition
from penstock.spark.reading.stream_planning import StreamPlanner, begins_at_moving_place

Document = dict[str, Any]
"""An offset as JSON."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans in one process of its own for the life of the query, and reads in the workers."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)

    @cached_property
    def _planner(self) -> StreamPlanner:
        return StreamPlanner(self._options)

    def initialOffset(self) -> Document:
        """Where a query without a checkpoint begins."""
        return self._planner.initial().as_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """What the options say; Spark has no limit of two kinds, so that the planner knows both itself."""
        if self._options.offsets_per_trigger_max is not None:
            return ReadMaxRows(self._options.offsets_per_trigger_max)
        if self._options.offsets_per_trigger_min is not None:
            return ReadMinRows(self._options.offsets_per_trigger_min)
        # Without any limit Spark asks as Trigger.Once does, which has to be told from all others here.
        return ReadMaxRows(LONG_MAX) if begins_at_moving_place(self._options) else ReadAllAvailable()

    def latestOffset(self, start: Document, limit: ReadLimit) -> Document:
        """Where the next micro-batch ends; ``start`` as it is if there is none."""
        before = parse_stream_offset(start)
        end = self._planner.next_end(before, has_limits=not isinstance(limit, ReadAllAvailable))
        return start if end is before else end.as_json()

    def reportLatestOffset(self) -> Document | None:
        """The ends of the partitions when they were last looked up, for the query's progress."""
        latest = self._planner.latest_known
        return None if latest is None else latest.as_json()

    def prepareForTriggerAvailableNow(self) -> None:
        """Remember where everything ends now."""
        self._planner.set_target()

    def partitions(self, start: Document, end: Document) -> Sequence[InputPartition]:
        """One for each task."""
        self._planner.note_planned()
        ranges = ranges_between(parse_stream_offset(start), parse_stream_offset(end))
        return input_partitions(ranges, self._options)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of one task, as Arrow batches."""
        return read_partition(partition, self._options, self._columns)

    def stop(self) -> None:
        """The query has ended."""
        self._planner.stop()
