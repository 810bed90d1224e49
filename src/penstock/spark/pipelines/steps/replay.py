"""Records of an archive, or of a stretch of a topic, once more into a topic: an ending that needs no rows."""

import secrets
from datetime import datetime
from typing import TYPE_CHECKING

from penstock.spark.options.definition import Use
from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Text, WholeNumber
from penstock.spark.pipelines.option_check import options_for
from penstock.spark.pipelines.steps.errand import Errand, IsStopped
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.step import Complain, EndingContext, RunningQuery, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.spark.archive.replay.sources import Source

_TIME = Text("a time like 2026-01-31T08:00:00, in UTC unless it names a zone")


def check(options: Options, complain: Complain) -> None:
    """Times that are none."""
    for name in ("since", "until"):
        if options[name] is not None and _instant(options[name]) is None:
            complain(
                f"The time {options[name]!r} of 'replay' is none.",
                f"Write '{name}' like 2026-01-31T08:00:00Z.",
            )


def start(frame: "DataFrame | None", options: Options, context: EndingContext) -> RunningQuery:
    """Chunk by chunk in a thread of its own; what an earlier run has replayed is not replayed again."""

    def work(spark: "SparkSession", is_stopped: IsStopped) -> None:
        _replay(spark, options, context, is_stopped)

    return Errand(context.step.spark, context.query_name, work)


def _replay(spark: "SparkSession", options: Options, context: EndingContext, is_stopped: IsStopped) -> None:
    from penstock.spark.archive.replay.progress import ReplayProgress
    from penstock.spark.archive.replay.running import Target, replay
    from penstock.spark.archive.stores.opening import open_store

    progress = ReplayProgress(open_store(context.checkpoint, spark))
    replay(
        spark,
        _source(options, context),
        Target(topic=options["to"], options=options_for(Use.BATCH_WRITE, context.step.topic_options)),
        name=_new_name(context) if progress.plan() is None else context.query_name,
        progress=progress,
        records_per_second=options["recordsPerSecond"],
        is_stopped=is_stopped,
    )


def _new_name(context: EndingContext) -> str:
    """One that the sink has never heard: a flow whose directory was removed replays anew."""
    return f"{context.query_name}-{secrets.token_hex(4)}"


def _source(options: Options, context: EndingContext) -> "Source":
    from penstock.spark.archive.reading import as_millis
    from penstock.spark.archive.replay.sources import ArchiveSource, TopicSource

    since_ms, until_ms = (as_millis(_instant(options[name] or "")) for name in ("since", "until"))
    if options["archive"] is None:
        reading = options_for(Use.BATCH_READ, context.step.topic_options)
        return TopicSource(options=reading, topic=options["topic"], since_ms=since_ms, until_ms=until_ms)
    path = resolved(options["archive"], context.step.directory)
    return ArchiveSource(path=path, topic=options["topic"], since_ms=since_ms, until_ms=until_ms)


def _instant(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


REPLAY = Step(
    name="replay",
    summary="Writes records of an archive, or of a stretch of a topic, once more into a topic, exactly once "
    "and in order; see archive.md.",
    fields=(
        Field(name="topic", kind=TOPIC_NAME, is_required=True, doc="The topic whose records they are."),
        Field(
            name="archive",
            kind=Text("a path"),
            doc="The archive to take them from; left out, they are read from the topic itself.",
        ),
        Field(name="to", kind=TOPIC_NAME, is_required=True, doc="The topic to write to; it must be there."),
        Field(name="since", kind=_TIME, doc="The first record timestamp to replay."),
        Field(name="until", kind=_TIME, doc="The record timestamp before which to end."),
        Field(
            name="recordsPerSecond",
            kind=WholeNumber(1),
            doc="Not faster than this; as fast as it goes if left out.",
        ),
    ),
    check=check,
    start=start,
    example="replay: {archive: archive, topic: orders, to: orders.again, since: 2026-01-31T00:00:00Z}",
)
