"""What topics hold, counted into a report: an ending that needs no rows."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.model.errors import OperatingError
from penstock.spark.options.definition import Use
from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import ListOf, Text, WholeNumber
from penstock.spark.pipelines.option_check import options_for
from penstock.spark.pipelines.steps.errand import Errand, IsStopped
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.step import Complain, EndingContext, RunningQuery, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def check(options: Options, complain: Complain) -> None:
    """A report that nobody could read."""
    if options["html"] is None and options["parquet"] is None:
        complain("'analyze' writes nothing.", "Give it 'html', 'parquet' or both.")


def start(frame: "DataFrame | None", options: Options, context: EndingContext) -> RunningQuery:
    """Count everything that is there now, in a thread of its own; there is no place to end in between."""

    def work(spark: "SparkSession", is_stopped: IsStopped) -> None:
        _analyze(spark, options, context)

    return Errand(context.step.spark, context.query_name, work)


def _analyze(spark: "SparkSession", options: Options, context: EndingContext) -> None:
    """Count, and write it down."""
    from penstock.spark.analysis import from_archive, from_brokers, html_page
    from penstock.spark.analysis.analysing import analyse_anew

    topics = tuple(options["topics"] or ())
    if options["archive"] is not None:
        source = from_archive(spark, resolved(options["archive"], context.step.directory), topics)
    else:
        reading = options_for(Use.BATCH_READ, context.step.topic_options)
        source = from_brokers(spark, topics, options=reading)
    directory = context.step.directory
    parquet = None if options["parquet"] is None else resolved(options["parquet"], directory)
    reports = analyse_anew(source, top_max=options["top"], parquet=parquet)
    if options["html"] is not None:
        now_ms = round(time.time() * 1000)
        page = html_page(reports, description=source.description, written_ms=now_ms, top_max=options["top"])
        _write(Path(resolved(options["html"], directory)), page)


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise OperatingError(f"The report cannot be written to {path}: {error}.") from error


ANALYZE = Step(
    name="analyze",
    summary="Counts what topics hold (sizes, keys, kinds of values, compression, times) and writes a report; "
    "see analysis.md.",
    fields=(
        Field(name="topics", kind=ListOf(TOPIC_NAME), doc="Which topics; all but internal ones if left out."),
        Field(
            name="archive",
            kind=Text("a path"),
            doc="The archive to count; left out, the records are read from brokers.",
        ),
        Field(name="html", kind=Text("a path"), doc="The file that becomes a page with plots."),
        Field(
            name="parquet",
            kind=Text("a path"),
            doc="A directory, or a URI, that gets the counts as tables, in place of those of the run before; "
            "there must be nothing else.",
        ),
        Field(name="top", kind=WholeNumber(1), default=10, doc="How many of the largest keys are named."),
    ),
    check=check,
    start=start,
    example="analyze: {topics: [orders], html: orders.html}",
)
