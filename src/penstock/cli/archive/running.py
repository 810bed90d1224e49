"""``penstock archive run``: a query that archives, watched until it ends or is asked to."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.cli.archive.spark import SparkWishes, running_spark, say
from penstock.cli.durations import parse_duration
from penstock.cli.output import print_json_line
from penstock.cli.pipeline.signals import StopSignals
from penstock.cli.sizes import parse_size
from penstock.cli.words import counted
from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.spark.archive.archiving import ArchiveTrigger
    from penstock.spark.pipelines.reporting.progress import FlowProgress

POLL_SECONDS = 0.25
STOP_PATIENCE_SECONDS = 30.0
"""How long a stop waits for a micro-batch that runs; what is cut off is done again at the next start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWishes:
    """What the command line says of a run."""

    path: str
    topics: tuple[str, ...]
    pattern: str | None
    is_available_now: bool
    every: str
    records_max: int
    bytes_max: str | None
    codec: str
    checkpoint: str | None
    options: Mapping[str, str]
    bootstrap_server: str
    spark: SparkWishes
    as_json: bool

    def source_options(self) -> dict[str, str]:
        """As the data source takes them; those that were given as such are strongest."""
        if bool(self.topics) == (self.pattern is not None):
            raise UsageError("Name the topics to archive, or a --pattern for their names, and not both.")
        chosen = {"subscribe": ",".join(self.topics)} if self.pattern is None else {}
        if self.pattern is not None:
            chosen["subscribePattern"] = self.pattern
        return {
            "kafka.bootstrap.servers": self.bootstrap_server,
            "maxOffsetsPerTrigger": str(self.records_max),
            **chosen,
            **self.options,
        }


def run_archive(wishes: RunWishes) -> None:
    """Archive until there is nothing left, if that was asked for, or until Ctrl-C."""
    options, trigger = wishes.source_options(), _trigger(wishes)
    bytes_max = None if wishes.bytes_max is None else parse_size(wishes.bytes_max, option="--max-bytes")
    with running_spark(wishes.spark) as spark:
        from penstock.spark.archive.parquet_files import FileSettings
        from penstock.spark.archive.topics import archive_topics

        query = archive_topics(
            spark,
            wishes.path,
            options=options,
            settings=FileSettings(codec=wishes.codec),
            trigger=trigger,
            checkpoint=wishes.checkpoint,
            bytes_per_trigger_max=bytes_max,
        )
        try:
            rows = _watch(query, as_json=wishes.as_json)
        finally:
            query.stop()
    if not wishes.as_json:
        say(f"{counted(rows, 'record')} archived in {wishes.path}")


def _trigger(wishes: RunWishes) -> "ArchiveTrigger":
    from penstock.spark.archive.archiving import ArchiveTrigger

    every_ms = parse_duration(wishes.every, option="--every")
    return ArchiveTrigger(available_now=wishes.is_available_now, interval=f"{every_ms} milliseconds")


def _watch(query: "StreamingQuery", *, as_json: bool) -> int:
    """Tell of every micro-batch; how many records there were."""
    pause = threading.Event()
    rows, last = 0, -1
    deadline = float("inf")
    with StopSignals() as signals:
        is_over = False
        while not is_over:
            if signals.is_asked:
                deadline = min(deadline, time.monotonic() + STOP_PATIENCE_SECONDS)
            is_late = time.monotonic() > deadline
            is_over = not query.isActive or (signals.is_asked and (is_late or not _is_busy(query)))
            for progress in _news(query, last):
                rows, last = rows + progress.rows, progress.batch
                _tell(progress, as_json=as_json)
            if not is_over:
                pause.wait(POLL_SECONDS)
    error = query.exception()
    if error is not None:
        raise error
    return rows


def _is_busy(query: "StreamingQuery") -> bool:
    return bool(query.status.get("isTriggerActive"))


def _news(query: "StreamingQuery", last: int) -> "Iterator[FlowProgress]":
    from penstock.spark.pipelines.reporting.progress import progress_of

    for report in query.recentProgress:
        progress = progress_of("archive", str(query.id), json.loads(report.json))
        if progress.batch > last and not progress.is_idle:
            yield progress


def _tell(progress: "FlowProgress", *, as_json: bool) -> None:
    if as_json:
        names = ("batch", "timestamp", "rows", "rows_per_second", "duration_ms", "lag")
        print_json_line({name: getattr(progress, name) for name in names})
    else:
        lag = "" if progress.lag is None else f"  lag {progress.lag:,}"
        seconds = progress.duration_ms / 1000
        rate = f"{progress.rows_per_second:,.0f} records/s"
        print(f"batch {progress.batch}  {counted(progress.rows, 'record')}  {rate}  {seconds:.1f} s{lag}")
    sys.stdout.flush()
