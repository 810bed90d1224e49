"""Rows of a stretch of time gathered into one: tumbling, sliding and session windows.

Rows that come after their window was closed are dropped by Spark and counted. With ``lateTopic`` they are
kept: one record for each window that a row came too late for, so that a correction knows what to correct.
"""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.durations import duration_ms
from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Duration, ListOf, MappingOf, Sql, Text
from penstock.spark.pipelines.steps.route import TOPIC_NAME
from penstock.spark.pipelines.steps.side_records import dead_letters
from penstock.spark.pipelines.steps.step import Complain, SideContext, Step, StepContext, as_list, topic_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

START_HEADER = "__late.window.start"
END_HEADER = "__late.window.end"
_WINDOW = "__window"


def check(options: Options, complain: Complain) -> None:
    """A window has a size, or a gap; a slide is shorter than the size."""
    if bool(options["size"]) == bool(options["gap"]):
        complain(
            "The step 'window' needs either 'size' or 'gap'.",
            "Give 'size' for tumbling windows, 'size' and 'slide' for sliding ones, 'gap' for sessions.",
        )
    if options["slide"] and not options["size"]:
        complain("The step 'window' has 'slide', but no 'size'.", "Give the size of the sliding window.")
    if options["size"] and options["slide"]:
        size, slide = duration_ms(options["size"]) or 0, duration_ms(options["slide"]) or 0
        if slide > size:
            complain(
                f"The window's slide of {options['slide']} is longer than its size of {options['size']}.",
                "Rows between two windows would be lost; make 'slide' at most as long as 'size'.",
            )


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Columns ``window_start``, ``window_end``, those of ``by``, and the aggregates."""
    from pyspark.sql import functions as F

    groups = [F.expr(each) for each in as_list(options["by"])]
    aggregates = [F.expr(sql).alias(name) for name, sql in options["aggregate"].items()]
    marked = frame.withWatermark(options["time"], options["watermark"])
    gathered = marked.groupBy(_window(options).alias(_WINDOW), *groups).agg(*aggregates)
    others = [F.col(f"`{name}`") for name in gathered.columns if name != _WINDOW]
    return gathered.select(
        F.col(_WINDOW)["start"].alias("window_start"), F.col(_WINDOW)["end"].alias("window_end"), *others
    )


def side(frame: "DataFrame", options: Options, context: SideContext) -> "DataFrame":
    """The records of rows whose window was closed before the micro-batch began."""
    from pyspark.sql import functions as F

    watermark = F.timestamp_millis(F.lit(context.late_watermark_ms))
    windows = frame.where(F.col(options["time"]).isNotNull()).withColumn(_WINDOW, _plain_window(options))
    late = windows.where(F.col(f"{_WINDOW}.end") <= watermark)
    start, end = F.col(f"{_WINDOW}.start"), F.col(f"{_WINDOW}.end")
    reason = F.concat(
        F.lit("too late: the window ["), start.cast("string"), F.lit(", "), end.cast("string"),
        F.lit(") was closed, the watermark was "), watermark.cast("string"),
    )  # fmt: skip
    return dead_letters(late, reason, more={START_HEADER: start, END_HEADER: end})


def _window(options: Options) -> "Column":
    from pyspark.sql import functions as F

    if options["gap"]:
        return F.session_window(options["time"], options["gap"])
    return F.window(options["time"], options["size"], options["slide"])


def _plain_window(options: Options) -> "Column":
    """The window of one row; of a session, the one that the row alone would make."""
    from pyspark.sql import functions as F

    if not options["gap"]:
        return F.window(options["time"], options["size"], options["slide"])
    time = F.col(options["time"])
    return F.struct(time.alias("start"), (time + F.expr(f"INTERVAL {options['gap']}")).alias("end"))


WINDOW = Step(
    name="window",
    summary="Gathers the rows of a window of time: tumbling, sliding or session.",
    fields=(
        Field(
            name="time",
            kind=Text("a column"),
            is_required=True,
            doc="The column of the event time, a timestamp.",
        ),
        Field(name="size", kind=Duration(), doc="How long a tumbling or sliding window is."),
        Field(
            name="slide",
            kind=Duration(),
            doc="How long after one window the next begins; left out, windows do not overlap (tumbling).",
        ),
        Field(
            name="gap",
            kind=Duration(),
            doc="In place of `size`: a session ends when no row came for so long.",
        ),
        Field(
            name="by",
            kind=ListOf(Sql()),
            default=(),
            doc="Columns or expressions (`lower(url) AS url`); each of their values has windows of its own.",
        ),
        Field(
            name="aggregate",
            kind=MappingOf(Sql()),
            is_required=True,
            doc="The columns of the result: SQL aggregates by name.",
        ),
        Field(
            name="watermark",
            kind=Duration(("0 seconds",)),
            default="0 seconds",
            doc="How late rows may be. A window is closed, and in mode `append` written, when a row came "
            "that is newer than its end by this.",
        ),
        Field(
            name="lateTopic",
            kind=TOPIC_NAME,
            doc="A topic for the records of rows that came too late. They have the headers of dead letters, "
            "and `__late.window.start` and `__late.window.end`.",
        ),
    ),
    is_stateful=True,
    check=check,
    build=build,
    side_topic=topic_of("lateTopic"),
    side=side,
    example="""- window:
    time: ts
    size: 1 minute
    by: [product]
    aggregate: {orders: count(*), revenue: sum(amount)}
    watermark: 30 seconds
    lateTopic: orders.late""",
)
