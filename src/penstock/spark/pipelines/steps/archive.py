"""Records kept as Parquet files by topic, date and hour: an ending, in place of a sink."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Choice, Text, WholeNumber
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.steps.step import EndingContext, RunningQuery, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CODECS = ("zstd", "snappy", "gzip", "lz4_raw", "uncompressed")


def start(frame: "DataFrame | None", options: Options, context: EndingContext) -> RunningQuery:
    """A query whose micro-batches become files, each record once."""
    from penstock.spark.archive.archiving import ArchiveTrigger, archive_rows
    from penstock.spark.archive.parquet_files import FileSettings

    assert frame is not None, "an archive has nothing to keep without rows"
    return archive_rows(
        frame,
        resolved(options["path"], context.step.directory),
        checkpoint=context.checkpoint,
        settings=FileSettings(codec=options["codec"], tasks_max=options["tasks"]),
        trigger=ArchiveTrigger(available_now=context.trigger.ends, interval=context.trigger.interval),
        query_name=context.query_name,
    )


ARCHIVE = Step(
    name="archive",
    summary="Keeps whole records as Parquet files by topic, date and hour, each once; see archive.md.",
    fields=(
        Field(
            name="path",
            kind=Text("a path"),
            is_required=True,
            doc="The directory of the archive, or a URI that Spark can write; relative to the pipeline file.",
        ),
        Field(name="codec", kind=Choice(_CODECS), default="zstd", doc="How files are compressed."),
        Field(
            name="tasks",
            kind=WholeNumber(1),
            doc="How many tasks write at once, each a file of its own an hour; as many as there are cores if "
            "left out.",
        ),
    ),
    shorthand="path",
    start=start,
    example="archive: {path: archive, codec: zstd}",
)
