"""Each row to the topic that an expression chooses."""

import re
from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import MappingOf, Sql, Text
from penstock.spark.pipelines.steps.step import Complain, Step, StepContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TOPIC_PATTERN = r"[A-Za-z0-9._-]{1,249}"
TOPIC_NAME = Text("a topic's name of up to 249 letters, digits, '.', '_' and '-'", TOPIC_PATTERN)


def check(options: Options, complain: Complain) -> None:
    """Conditions stand behind names that topics can have."""
    for topic in options["topics"]:
        if not re.fullmatch(TOPIC_PATTERN, topic):
            complain(f"No topic can be called {topic!r}.", f"It takes {TOPIC_NAME.expected}.")


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """A column ``topic``, which the sink goes by; the first condition that is true decides."""
    from pyspark.sql import functions as F

    chosen = F.lit(options["otherwise"])
    for topic, condition in reversed(options["topics"].items()):
        chosen = F.when(F.expr(condition), F.lit(topic)).otherwise(chosen)
    routed = frame.withColumn("topic", chosen)
    return routed if options["otherwise"] else routed.where(F.col("topic").isNotNull())


ROUTE = Step(
    name="route",
    summary="Sends each row to the topic that an expression chooses; the flow's sink must name none.",
    fields=(
        Field(
            name="topics",
            kind=MappingOf(Sql()),
            is_required=True,
            doc="SQL conditions by topic. The first in the file that is true for a row decides.",
        ),
        Field(
            name="otherwise",
            kind=TOPIC_NAME,
            doc="The topic of rows that no condition chose; left out, they are dropped.",
        ),
    ),
    keeps_records=True,
    check=check,
    build=build,
    example="""- route:
    topics:
      orders.de: country = 'DE'
      orders.fr: country = 'FR'
    otherwise: orders.other""",
)
