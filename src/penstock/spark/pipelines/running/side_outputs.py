"""Side outputs: records that could not be parsed, dead letters, rows that came too late for their window.

A streaming query has one output, and Spark drops late rows without a trace. So the records are looked at
again: when a micro-batch is committed, Spark's checkpoint says which offsets it read and what it took for
too late, and its progress how many rows left sideways. If there were some, exactly these offsets are read
once more, the steps on the way are done again, and what leaves there is written to its topic. A micro-batch
without any costs nothing.

The offsets, the watermark, the present time and the settings are those of the micro-batch itself, so nothing
is missed and nothing is taken that went its way. What was written is told by the query's id and the
micro-batch's number: a second try after a crash writes nothing twice. ``sides.json`` says where to go on, and
where a stream began before its first commit; it is never far behind, since Spark forgets what is long past.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.model.errors import InvariantError, OperatingError
from penstock.spark.options.definition import Use
from penstock.spark.options.source_options import stream_options
from penstock.spark.options.subscriptions import Subscribe, SubscribePattern, Subscription
from penstock.spark.pipelines.graph import SideOutput
from penstock.spark.pipelines.model import PENSTOCK, Source
from penstock.spark.pipelines.option_check import options_for
from penstock.spark.pipelines.running.checkpoints import (
    Checkpoint,
    Offsets,
    PlannedBatch,
    plain_offsets,
    range_between,
)
from penstock.spark.pipelines.running.datasets import Datasets
from penstock.spark.pipelines.running.flow_queries import configured
from penstock.spark.pipelines.running.sources import read_range
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.observing import metric_name
from penstock.spark.pipelines.steps.side_records import with_record
from penstock.spark.pipelines.steps.sql_options import use_as_of
from penstock.spark.pipelines.steps.step import RECORD_COLUMN, SideContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SAVED_EVERY_BATCHES = 20
"""How far the cursor may be ahead of what is saved. Spark remembers a hundred micro-batches, and all that are
looked at again after a crash must be among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSigns:
    """What the progress of a micro-batch says of rows that left it sideways."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """By the names of observed metrics."""
    late_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCursor:
    """How far side outputs are written."""

    batch: int = -1
    """The last micro-batch that is dealt with."""
    starts: Mapping[str, Offsets] = field(default_factory=dict)
    """Where the first micro-batch began in each source."""


def read_cursor(path: Path) -> SideCursor | None:
    """What was written last; None if nothing was."""
    if not path.is_file():
        return None
    document = json.loads(path.read_text())
    starts = {name: plain_offsets(offsets) for name, offsets in document["starts"].items()}
    return SideCursor(batch=document["batch"], starts=starts)


def write_cursor(path: Path, cursor: SideCursor) -> None:
    """Replace what was written before, in one go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"batch": cursor.batch, "starts": cursor.starts}))
    fresh.replace(path)


def begin_cursor(
    path: Path, checkpoint: Checkpoint, outputs: Sequence[SideOutput], topic_options: Mapping[str, str]
) -> SideCursor:
    """Where to go on; a flow that is new begins where its sources say, and that is written down first."""
    committed = checkpoint.last_committed()
    cursor = read_cursor(path)
    if cursor is not None and (committed >= 0 or cursor.batch < 0):
        return cursor
    starts = {}
    if committed < 0:
        sources = {output.source.name: output.source for output in outputs if output.source is not None}
        starts = {name: first_offsets(source, topic_options) for name, source in sources.items()}
    fresh = SideCursor(batch=committed, starts=starts)
    write_cursor(path, fresh)
    return fresh


def first_offsets(source: Source, topic_options: Mapping[str, str]) -> Offsets:
    """Where a new stream of a source begins, looked up now."""
    from penstock.spark.reading.stream_planning import StreamPlanner

    given = {**options_for(Use.STREAM_READ, topic_options), **source.options}
    return plain_offsets(StreamPlanner(stream_options(given)).initial().as_json())


class SideOutputs:
    """The side outputs of one flow at work."""

    def __init__(
        self,
        datasets: Datasets,
        outputs: Sequence[SideOutput],
        *,
        checkpoint: Checkpoint,
        cursor: SideCursor,
        cursor_path: Path,
        settings: Mapping[str, str],
    ) -> None:
        """``settings`` are those of Spark that the flow's query has."""
        self._datasets = datasets
        self._settings = settings
        self._outputs = outputs
        self._checkpoint = checkpoint
        self._cursor = cursor
        self._saved = cursor
        self._cursor_path = cursor_path

    def catch_up(self, signs: Mapping[int, BatchSigns], *, until: int | None = None) -> dict[str, int]:
        """Deal with micro-batches up to ``until``, or all that are committed; how much each topic got.

        The caller names one whose signs are known: Spark commits first and reports then.
        """
        written: dict[str, int] = {}
        last = self._checkpoint.last_committed() if until is None else until
        for batch in range(self._cursor.batch + 1, last + 1):
            for output in self._outputs:
                if not _is_quiet(output, signs.get(batch)):
                    with configured(self._datasets.spark, self._settings):
                        count = self._write(output, batch)
                    written[output.topic] = written.get(output.topic, 0) + count
            self._cursor = SideCursor(batch=batch, starts=self._cursor.starts)
            if batch - self._saved.batch >= SAVED_EVERY_BATCHES:
                self.save()
        if written:
            self.save()
        return written

    def save(self) -> None:
        """Write down how far it came."""
        if self._cursor != self._saved:
            write_cursor(self._cursor_path, self._cursor)
            self._saved = self._cursor

    def _write(self, output: SideOutput, batch: int) -> int:
        rows = self._rows(output, batch)
        if rows is None:
            return 0
        rows = rows.persist()
        try:
            count = rows.count()
            if count:
                options = {
                    **options_for(Use.BATCH_WRITE, self._datasets.topic_options),
                    "topic": output.topic,
                    "txnAppId": f"{self._query_id()}.{output.label}",
                    "txnVersion": str(batch),
                }
                rows.write.format(PENSTOCK).options(**options).mode("append").save()
        finally:
            rows.unpersist()
        return count

    def _rows(self, output: SideOutput, batch: int) -> "DataFrame | None":
        """The records that leave at a step, out of those that a micro-batch read; None if it read none."""
        source = output.source
        if source is None:
            raise InvariantError(f"Nobody knows which records left at {output.label}.")
        planned = self._planned(batch, needed_for=batch)
        before = None if batch == 0 else self._planned(batch - 1, needed_for=batch)
        offsets = range_between(self._start(source, before), self._ends(source, planned))
        if offsets.is_empty:
            return None
        datasets = self._datasets
        rows = with_record(read_range(datasets.spark, source, datasets.topic_options, offsets=offsets))
        for holder, position, use in output.before:
            context = datasets.context(holder, position, carried=(RECORD_COLUMN,))
            rows = datasets.after_step(rows, use_as_of(use, planned.began_ms), context)
        side = STEPS[output.use.name].side
        assert side is not None, f"{output.use.name} has no side output"
        context = datasets.context(output.holder, output.position, carried=(RECORD_COLUMN,))
        late_ms = 0 if before is None else before.watermark_ms
        use = use_as_of(output.use, planned.began_ms)
        return side(rows, use.options, SideContext(step=context, late_watermark_ms=late_ms))

    def _planned(self, batch: int, *, needed_for: int) -> PlannedBatch:
        """What a micro-batch read; without it, nobody can tell what left another sideways."""
        planned = self._checkpoint.planned(batch)
        if planned is None:
            raise OperatingError(
                f"The side outputs stand at micro-batch {needed_for}. What left there is told by that and "
                f"the one before, but the first that Spark remembers is {self._checkpoint.first_known()}. "
                f"Remove {self._cursor_path} to go on without what left since."
            )
        return planned

    def _start(self, source: Source, before: PlannedBatch | None) -> Offsets:
        """Where a micro-batch begins; only the very first one does where the stream did."""
        return self._cursor.starts.get(source.name, {}) if before is None else self._ends(source, before)

    def _ends(self, source: Source, planned: PlannedBatch) -> Offsets:
        """Where a micro-batch ends in one of the flow's sources, which is told by its topics."""
        given = {**options_for(Use.STREAM_READ, self._datasets.topic_options), **source.options}
        subscription = stream_options(given).subscription
        for end in planned.ends:
            if end and all(_covers(subscription, topic) for topic in end):
                return end
        return {}

    def _query_id(self) -> str:
        text = self._checkpoint.read_text("metadata")
        if text is None:
            raise InvariantError("A checkpoint with committed micro-batches has no metadata.")
        return str(json.loads(text)["id"])


def _is_quiet(output: SideOutput, signs: BatchSigns | None) -> bool:
    """Whether it is certain that nothing left there."""
    if signs is None:
        return False
    if STEPS[output.use.name].is_stateful:
        return signs.late_rows == 0
    return signs.counts.get(metric_name(output.label)) == 0


def _covers(subscription: Subscription, topic: str) -> bool:
    if isinstance(subscription, Subscribe):
        return topic in subscription.topics
    if isinstance(subscription, SubscribePattern):
        return bool(subscription.matching([topic]))
    return any(partition.topic == topic for partition in subscription.partitions)
