"""The first of several equal rows goes on; how long it is remembered is the watermark."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Duration, ListOf, Text
from penstock.spark.pipelines.steps.step import Step, StepContext, as_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Spark's own operator: in the JVM, and its state shrinks as the watermark moves."""
    marked = frame.withWatermark(options["time"], options["within"])
    return marked.dropDuplicatesWithinWatermark(as_list(options["by"]))


DEDUP = Step(
    name="dedup",
    summary="Drops rows whose like was already seen within a stretch of event time.",
    fields=(
        Field(
            name="by",
            kind=ListOf(Text("a column")),
            is_required=True,
            doc="The columns in which two rows have to be equal to be duplicates.",
        ),
        Field(
            name="time",
            kind=Text("a column"),
            default="timestamp",
            doc="The column of the event time, a timestamp.",
        ),
        Field(
            name="within",
            kind=Duration(),
            is_required=True,
            doc="How far apart in event time duplicates may be. A row that is later than this behind the "
            "newest is dropped, duplicate or not.",
        ),
    ),
    is_stateful=True,
    build=build,
    example="- dedup: {by: [order_id], time: ts, within: 10 minutes}",
)
