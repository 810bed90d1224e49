"""Carrying out a replay: one chunk after the other, each written exactly once, not faster than asked.

A chunk is one write of the sink under the replay's name and the chunk's number, so that the sink itself knows
what it has. All records of a partition are written by one task, in the order of their offsets.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.model.errors import UsageError
from penstock.spark.archive.replay.plan import Chunk, ReplayPlan
from penstock.spark.archive.replay.progress import Done, ReplayProgress
from penstock.spark.archive.replay.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHUNK_SIZE = 500_000
_PACED_CHUNK_SECONDS = 2
"""With a limit on the rate, a chunk is what may be written in this time; records come in such bursts."""

_STOP_POLL_SECONDS = 0.1

_KEPT_COLUMNS = ("key", "value", "headers", "timestamp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where records go."""

    topic: str
    options: Mapping[str, str]
    """Of the sink, such as ``kafka.bootstrap.servers``."""

    def partition_count(self) -> int:
        """How many partitions the topic has; it must be there."""
        from penstock.spark.options.parsing import connecting_options
        from penstock.spark.options.source_options import batch_options
        from penstock.spark.options.subscriptions import Subscribe
        from penstock.spark.reading.lookup import Lookup

        reading = {**connecting_options(self.options), "subscribe": self.topic}
        lookup = Lookup(batch_options(reading))
        layout = lookup.layouts(Subscribe(topics=(self.topic,))).get(self.topic)
        if layout is None:
            raise UsageError(
                f"There is no topic {self.topic!r} to write to: make it, with as many partitions as the "
                "records had if they are to stay in theirs."
            )
        return len(layout.leaders)


class Replayed(NamedTuple):
    """How far a replay is."""

    plan: ReplayPlan
    done: Done

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.done.chunks == self.plan.chunk_count


def make_plan(
    spark: "SparkSession",
    source: Source,
    target: Target,
    *,
    name: str = "",
    records_per_second: int | None = None,
) -> ReplayPlan:
    """What to replay, as of now."""
    if records_per_second is not None and records_per_second < 1:
        raise UsageError(f"At {records_per_second} records a second nothing would ever be replayed.")
    phases = source.phases(spark)
    numbers = {number for phase in phases for number in phase.ranges}
    paced = CHUNK_SIZE if records_per_second is None else records_per_second * _PACED_CHUNK_SECONDS
    return ReplayPlan(
        source=source.identity(),
        target=target.topic,
        phases=phases,
        chunk_size=min(CHUNK_SIZE, paced),
        task_count=max(1, min(len(numbers), spark.sparkContext.defaultParallelism)),
        keeps_partitions=max(numbers, default=0) < target.partition_count(),
        name=name,
    )


def replay(
    spark: "SparkSession",
    source: Source,
    target: Target,
    *,
    name: str,
    progress: ReplayProgress,
    records_per_second: int | None = None,
    on_chunk: Callable[[Replayed], None] = lambda replayed: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Replayed:
    """Replay what is left of it; how far it is then, which is all of it unless it was interrupted.

    ``name`` is what the sink knows the replay by: two that run, or ran, into the same topic must not share
    one. One that has begun keeps its name, and its times and offsets. ``is_stopped`` is asked between two
    chunks: what is done then stays, and the next call goes on there.
    """
    plan = progress.plan()
    if plan is None:
        plan = make_plan(spark, source, target, name=name, records_per_second=records_per_second)
        progress.begin(plan)
    name = plan.name or name
    source = as_planned(plan, source, target, name=name)
    done = progress.done()
    pace = _Pace(records_per_second)
    for number in range(done.chunks, plan.chunk_count):
        if is_stopped():
            break
        records = _write(spark, source, plan.chunk(number), plan=plan, target=target, name=name)
        done = progress.finish(number, records=records)
        on_chunk(Replayed(plan, done))
        pace.wait(records, is_stopped)
    return Replayed(plan, done)


class _Pace:
    """Holds back so that the records written since the beginning are not more than the rate allows."""

    def __init__(self, records_per_second: int | None) -> None:
        self._rate = records_per_second
        self._began = time.monotonic()
        self._records = 0

    def wait(self, records: int, is_stopped: Callable[[], bool]) -> None:
        """Wait until so many more records were due, unless nobody wants them any more."""
        self._records += records
        if self._rate is None:
            return
        due = self._began + self._records / self._rate
        while (left := due - time.monotonic()) > 0 and not is_stopped():
            time.sleep(min(left, _STOP_POLL_SECONDS))


def as_planned(plan: ReplayPlan, source: Source, target: Target, *, name: str) -> Source:
    """The source with the times and offsets that the plan has: those decide what else is read of its ranges.

    What is not asked for goes by the plan. What is, and is something else, is a mistake.
    """
    asked = source.identity()
    for what, planned, wanted in (
        ("topic", plan.source["topic"], asked["topic"]),
        ("source", _place(plan.source), _place(asked)),
        ("target", plan.target, target.topic),
    ):
        if planned != wanted:
            raise UsageError(
                f"Replay {name!r} was begun with {what} {planned!r}, not {wanted!r}: choose another name."
            )
    for what in ("since_ms", "until_ms", "offsets"):
        if asked[what] not in (None, plan.source[what]):
            raise UsageError(
                f"Replay {name!r} was begun with {what} {plan.source[what]}, not {asked[what]}: leave that "
                "out to go on with it, or choose another name."
            )
    return source.with_part(plan.source)


def _place(identity: Mapping[str, object]) -> object:
    return identity.get("archive", identity.get("cluster"))


def _write(
    spark: "SparkSession", source: Source, chunk: Chunk, *, plan: ReplayPlan, target: Target, name: str
) -> int:
    """Write a chunk, unless the sink has it; how many records it has."""
    if not chunk.phase.ranges:
        return 0
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    read = Observation()
    rows = source.rows(spark, chunk.phase).observe(read, F.count(F.lit(1)).alias("rows"))
    _as_records(rows, plan).write.format("penstock").mode("append").options(**target.options).options(
        topic=target.topic, txnAppId=f"penstock-replay-{name}", txnVersion=str(chunk.number)
    ).save()
    return int(read.get["rows"])


def _as_records(rows: "DataFrame", plan: ReplayPlan) -> "DataFrame":
    """In the order of their partitions, each of which is in one task; the same tasks whenever it is tried."""
    columns = (*_KEPT_COLUMNS, "partition") if plan.keeps_partitions else _KEPT_COLUMNS
    ordered = rows.repartition(plan.task_count, "partition").sortWithinPartitions("partition", "offset")
    return ordered.select(*columns)
