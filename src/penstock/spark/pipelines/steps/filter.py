"""Rows that meet a condition go on, the others do not."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Sql
from penstock.spark.pipelines.steps.step import Step, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Keep the rows for which the condition is true; null is not true."""
    return frame.where(options["where"])


FILTER = Step(
    name="filter",
    summary="Keeps the rows for which a condition is true.",
    fields=(
        Field(
            name="where",
            kind=Sql(),
            is_required=True,
            doc="An SQL condition. Rows for which it is false or null are dropped.",
        ),
    ),
    shorthand="where",
    keeps_records=True,
    build=build,
    example="- filter: amount > 0 AND country IS NOT NULL",
)
