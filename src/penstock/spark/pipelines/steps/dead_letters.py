"""Rows that are not as they should be go to a topic of their own, with the reason."""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Sql
from penstock.spark.pipelines.steps.observing import observed
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.side_records import dead_letters
from penstock.spark.pipelines.steps.step import SideContext, Step, StepContext, topic_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """The rows that are fine."""
    return observed(frame, _is_bad(options), context).where(~_is_bad(options))


def side(frame: "DataFrame", options: Options, context: SideContext) -> "DataFrame":
    """The records of those that are not."""
    from pyspark.sql import functions as F

    reason = F.coalesce(F.expr(options["reason"]).cast("string"), F.lit(options["where"]))
    return dead_letters(frame.where(_is_bad(options)), reason)


def _is_bad(options: Options) -> "Column":
    from pyspark.sql import functions as F

    return F.coalesce(F.expr(options["where"]), F.lit(False))


DEAD_LETTERS = Step(
    name="dead_letters",
    summary="Sends rows that meet a condition to a dead-letter topic, as the records they were, with the "
    "reason.",
    fields=(
        Field(name="where", kind=Sql(), is_required=True, doc="An SQL condition that is true for bad rows."),
        Field(
            name="reason",
            kind=Sql(),
            default="NULL",
            doc="An SQL expression of the text in the header `__dlq.error`; the condition itself if left "
            "out.",
        ),
        Field(name="topic", kind=TOPIC_NAME, is_required=True, doc="The topic of dead letters."),
    ),
    keeps_records=True,
    build=build,
    side_topic=topic_of("topic"),
    side=side,
    example="""- dead_letters:
    where: amount < 0
    reason: concat('negative amount ', amount)
    topic: orders.dlq""",
)
