"""A query over the rows so far, and over other datasets of the pipeline."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Sql
from penstock.spark.pipelines.sql_text import tables_read, with_input
from penstock.spark.pipelines.steps.step import Step, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

INPUT = "input"
"""What a query calls the rows that come from the step before it."""


def reads(options: Options) -> tuple[str, ...]:
    """The other datasets that the query names; those with a dot are a catalog's, not ours."""
    found = [each for each in tables_read(options["query"] or "") if len(each.parts) == 1]
    return tuple(dict.fromkeys(each.name for each in found if each.name.lower() != INPUT))


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Run the query with the rows under a name of their own, so that two such steps cannot meet."""
    view = f"__input_{context.label}"
    frame.createOrReplaceTempView(view)
    for name in reads(options):
        context.dataset(name)
    return context.spark.sql(with_input(options["query"], INPUT, reading=view))


SQL = Step(
    name="sql",
    summary="Runs a query over the rows so far, which it calls `input`.",
    fields=(
        Field(
            name="query",
            kind=Sql("an SQL query"),
            is_required=True,
            doc="A query of Spark SQL. It reads `input` and may read every source, view and table of the "
            "pipeline.",
        ),
    ),
    shorthand="query",
    reads=reads,
    build=build,
    example="- sql: SELECT user, count(*) AS clicks FROM input GROUP BY user",
)
