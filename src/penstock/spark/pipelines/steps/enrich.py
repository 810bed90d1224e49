"""Columns looked up by key, in a file or by a query that does not stream.

What is looked up is read once, when the flow starts: Spark lists files when a query is made, and a file that
changes below a running one is misread. What changes belongs in a compacted topic, and a ``join`` with it.
"""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Choice, ListOf, MappingOf, Schema, Sql, Text
from penstock.spark.pipelines.running.refreshing import AT_START
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.steps.step import Complain, Step, StepContext, as_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FORMATS = ("csv", "json", "parquet", "orc", "xml", "text")


def check(options: Options, complain: Complain) -> None:
    """One place to look things up in."""
    if bool(options["path"]) == bool(options["sql"]):
        complain(
            "The step 'enrich' needs either 'path' or 'sql'.",
            "Give the file, or the query to look things up in.",
        )


def files(options: Options) -> tuple[str, ...]:
    """The file, where it is one."""
    return (options["path"],) if options["path"] else ()


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """A join with rows that are small enough to be sent to every task."""
    from pyspark.sql import functions as F

    on = as_list(options["on"])
    found = _looked_up(options, context)
    wanted = as_list(options["columns"]) or [name for name in found.columns if name not in on]
    return frame.join(F.broadcast(found.select(*on, *wanted)), on, options["how"])


def _looked_up(options: Options, context: StepContext) -> "DataFrame":
    if options["sql"]:
        rows = context.spark.sql(options["sql"])
    else:
        reader = context.spark.read.format(options["format"]).options(**options["options"])
        if options["schema"]:
            reader = reader.schema(options["schema"])
        elif options["format"] == "csv":
            reader = reader.option("header", True).option("inferSchema", True)
        rows = reader.load(resolved(options["path"], context.directory))
    return context.refreshing.refreshed(rows, AT_START)


ENRICH = Step(
    name="enrich",
    summary="Adds columns that are looked up in a file or by a query, which is read when the flow starts.",
    fields=(
        Field(name="path", kind=Text("a path"), doc="A file or directory; relative to the pipeline file."),
        Field(name="format", kind=Choice(_FORMATS), default="csv", doc="How the file is written."),
        Field(
            name="schema",
            kind=Schema(),
            doc="Its columns. Left out, they are read from the file; of CSV, from its first line.",
        ),
        Field(
            name="options",
            kind=MappingOf(Text()),
            default={},
            doc="Options of Spark's reader for that format.",
        ),
        Field(name="sql", kind=Sql("an SQL query"), doc="A query that does not stream, in place of a file."),
        Field(
            name="on",
            kind=ListOf(Text("a column")),
            is_required=True,
            doc="The columns to look up by; both sides have them under these names. A row for which there "
            "are several becomes as many.",
        ),
        Field(
            name="columns",
            kind=ListOf(Text("a column")),
            default=(),
            doc="The columns to add; all that are not in `on` if left out.",
        ),
        Field(
            name="how",
            kind=Choice(("left", "inner")),
            default="left",
            doc="`left` keeps rows that were not found, with nulls; `inner` drops them.",
        ),
    ),
    check=check,
    files=files,
    build=build,
    example="- enrich: {path: countries.csv, on: country, columns: [name, continent]}",
)
