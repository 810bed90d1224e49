"""How long a stateful step that follows waits for late rows."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Duration, Text
from penstock.spark.pipelines.steps.step import Step, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Mark the column; the watermark itself is Spark's to move."""
    return frame.withWatermark(options["time"], options["delay"])


WATERMARK = Step(
    name="watermark",
    summary="Says how late rows may be, for SQL and other stateful steps that follow.",
    fields=(
        Field(
            name="time",
            kind=Text("a column"),
            is_required=True,
            doc="The column of the event time, a timestamp.",
        ),
        Field(
            name="delay",
            kind=Duration(),
            is_required=True,
            doc="How much older than the newest row seen so far a row may be.",
        ),
    ),
    build=build,
    example="- watermark: {time: ts, delay: 30 seconds}",
)
