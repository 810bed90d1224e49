"""Where a replay has its records from: an archive, or a topic that is still there."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.spark.archive.intervals import Interval, Intervals, intersection, union
from penstock.spark.archive.manifest import load
from penstock.spark.archive.reading import read_selection
from penstock.spark.archive.replay.plan import Phase
from penstock.spark.archive.selection import Selection, select_files
from penstock.spark.archive.stores.opening import open_store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.spark.options.source_options import SourceOptions

Offsets = Mapping[int, Interval]
"""By partition."""


class Source(Protocol):
    """One topic, or part of it."""

    @property
    def topic(self) -> str:
        """Its name."""
        ...

    def identity(self) -> dict[str, Any]:
        """What tells it from every other source, as JSON has it."""
        ...

    def with_part(self, identity: Mapping[str, Any]) -> "Source":
        """The same place, but those times and offsets that an identity tells."""
        ...

    def phases(self, spark: "SparkSession") -> tuple[Phase, ...]:
        """What there is at this moment, without empty ranges."""
        ...

    def rows(self, spark: "SparkSession", phase: Phase) -> "DataFrame":
        """The records of a part of what there was, with all columns."""
        ...

    def oldest_timestamp_ms(self, spark: "SparkSession") -> int | None:
        """A time before which none of its records is; None if that cannot be told without reading them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSource:
    """A topic in an archive. Times are those of the records, exactly."""

    path: str
    topic: str
    since_ms: int | None = None
    until_ms: int | None = None
    offsets: Offsets | None = None

    def identity(self) -> dict[str, Any]:
        """What tells it from every other source, as JSON has it."""
        return {"archive": self.path, **_identity(self)}

    def with_part(self, identity: Mapping[str, Any]) -> "ArchiveSource":
        """The same archive, but those times and offsets that an identity tells."""
        return replace(self, **_part(identity))

    def phases(self, spark: "SparkSession") -> tuple[Phase, ...]:
        """What the files hold that may have something of it."""
        state = load(open_store(self.path, spark))
        found: dict[int, dict[int, list[Interval]]] = defaultdict(lambda: defaultdict(list))
        for file in select_files(state, self._selection()):
            for number, span in file.spans.items():
                found[file.incarnation][number].append(Interval(span.first, span.last + 1))
        phases = (Phase(number, self._cut(found[number])) for number in sorted(found))
        return tuple(phase for phase in phases if phase.ranges)

    def rows(self, spark: "SparkSession", phase: Phase) -> "DataFrame":
        """The records of a part of what there was, with all columns."""
        store = open_store(self.path, spark)
        selection = self._selection(phase)
        return read_selection(spark, store, load(store), selection)

    def oldest_timestamp_ms(self, spark: "SparkSession") -> int | None:
        """By the manifest."""
        files = select_files(load(open_store(self.path, spark)), self._selection())
        found = min((file.first_timestamp_ms for file in files), default=None)
        return found if found is None or self.since_ms is None else max(found, self.since_ms)

    def _selection(self, phase: Phase | None = None) -> Selection:
        ranges = self.offsets if phase is None else phase.ranges
        return Selection(
            topics=(self.topic,),
            since_ms=self.since_ms,
            until_ms=self.until_ms,
            offsets=None
            if ranges is None
            else {TopicPartition(self.topic, number): one for number, one in ranges.items()},
            incarnation=None if phase is None else phase.incarnation,
        )

    def _cut(self, found: Mapping[int, list[Interval]]) -> dict[int, Interval]:
        """From the first to the last offset of each partition, as far as they are asked for."""
        cut: dict[int, Interval] = {}
        for number, intervals in sorted(found.items()):
            wanted = union(intervals) if self.offsets is None else self._asked(number, union(intervals))
            if wanted:
                cut[number] = Interval(wanted[0].start, wanted[-1].end)
        return cut

    def _asked(self, number: int, there: Intervals) -> Intervals:
        asked = (self.offsets or {}).get(number)
        return () if asked is None else intersection(there, asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSource:
    """A topic of a cluster.

    A time means the first record of that time or later, as Kafka looks times up; all records between two such
    places are replayed, also those whose own timestamps are out of order.
    """

    options: Mapping[str, str]
    """Of the data source, such as ``kafka.bootstrap.servers``."""
    topic: str
    since_ms: int | None = None
    until_ms: int | None = None
    offsets: Offsets | None = None

    def identity(self) -> dict[str, Any]:
        """What tells it from every other source, as JSON has it."""
        return {"cluster": self.options.get("kafka.bootstrap.servers", ""), **_identity(self)}

    def with_part(self, identity: Mapping[str, Any]) -> "TopicSource":
        """The same topic, but those times and offsets that an identity tells."""
        return replace(self, **_part(identity))

    def phases(self, spark: "SparkSession") -> tuple[Phase, ...]:
        """The ranges of offsets that are there."""
        from penstock.spark.reading.planning import plan_batch

        found = plan_batch(self._planned())
        ranges = {
            one.partition.partition: Interval(one.start, one.end)
            for one in found
            if one.size and (self.offsets is None or one.partition.partition in self.offsets)
        }
        return (Phase(0, ranges),) if ranges else ()

    def rows(self, spark: "SparkSession", phase: Phase) -> "DataFrame":
        """The records of a part of what there was, with all columns."""
        starts = {str(number): one.start for number, one in phase.ranges.items()}
        ends = {str(number): one.end for number, one in phase.ranges.items()}
        return (
            spark.read.format("penstock")
            .options(**self._asked(), includeHeaders="true")
            .options(
                assign=json.dumps({self.topic: sorted(phase.ranges)}),
                startingOffsets=json.dumps({self.topic: starts}),
                endingOffsets=json.dumps({self.topic: ends}),
            )
            .load()
        )

    def oldest_timestamp_ms(self, spark: "SparkSession") -> int | None:
        """Nobody has looked."""
        return None

    def _asked(self) -> dict[str, str]:
        return {"kafka.isolation.level": "read_committed", **self.options}

    def _planned(self) -> "SourceOptions":
        from penstock.spark.options.source_options import batch_options

        asked = {**self._asked(), "subscribe": self.topic, "startingOffsetsByTimestampStrategy": "latest"}
        if self.offsets is not None:
            if self.since_ms is not None or self.until_ms is not None:
                raise UsageError("A stretch of a topic is named by times or by offsets, not by both.")
            del asked["subscribe"]
            asked |= {
                "assign": json.dumps({self.topic: sorted(self.offsets)}),
                "startingOffsets": json.dumps(
                    {self.topic: {n: one.start for n, one in self.offsets.items()}}
                ),
                "endingOffsets": json.dumps({self.topic: {n: one.end for n, one in self.offsets.items()}}),
            }
        if self.since_ms is not None:
            asked["startingTimestamp"] = str(self.since_ms)
        if self.until_ms is not None:
            asked["endingTimestamp"] = str(self.until_ms)
        return batch_options(asked)


def _identity(source: ArchiveSource | TopicSource) -> dict[str, Any]:
    offsets = source.offsets
    return {
        "topic": source.topic,
        "since_ms": source.since_ms,
        "until_ms": source.until_ms,
        "offsets": None if offsets is None else {str(n): list(offsets[n]) for n in sorted(offsets)},
    }


def _part(identity: Mapping[str, Any]) -> dict[str, Any]:
    offsets = identity["offsets"]
    return {
        "since_ms": identity["since_ms"],
        "until_ms": identity["until_ms"],
        "offsets": None if offsets is None else {int(n): Interval(*one) for n, one in offsets.items()},
    }
