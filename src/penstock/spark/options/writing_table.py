"""The options of writing, with names and meaning of Spark's Kafka connector but for those marked ours."""

from penstock.spark.options.definition import WRITES, Effect, Option, Use
from penstock.spark.options.kinds import ANYTHING, TEXT

WRITING_OPTIONS = (
    Option(
        name="topic",
        kind=TEXT,
        default=None,
        uses=WRITES,
        meaning="The topic of all rows; without it every row has to have one in its column topic.",
    ),
    Option(
        name="checkpointLocation",
        kind=ANYTHING,
        default=None,
        uses=frozenset({Use.STREAM_WRITE}),
        meaning="Spark's own, passed on to every sink: where the query keeps its progress.",
        effect=Effect.IGNORED,
    ),
)
