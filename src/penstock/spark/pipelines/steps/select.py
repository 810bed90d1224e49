"""Other columns: chosen, computed, renamed."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import ListOf, Sql
from penstock.spark.pipelines.steps.step import Step, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """One column for each expression, and those that have to be carried along."""
    return frame.selectExpr(*options["columns"], *(f"`{name}`" for name in context.carried))


SELECT = Step(
    name="select",
    summary="Makes other columns of the row's: some of them, computed ones, renamed ones.",
    fields=(
        Field(
            name="columns",
            kind=ListOf(Sql()),
            is_required=True,
            doc="SQL expressions, one for each new column: `amount`, `upper(country) AS country`, `*`.",
        ),
    ),
    shorthand="columns",
    keeps_records=True,
    build=build,
    example="- select: ['*', amount * 1.19 AS gross]",
)
