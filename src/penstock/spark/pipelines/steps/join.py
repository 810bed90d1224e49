"""Rows of two datasets brought together: two streams, or a stream and a table.

Two streams need an end to waiting: ``time`` columns, watermarks and ``within``, how far apart in event time
two rows may be that belong together. A table (a source with ``read: table``, or one that does not stream) is
looked up as it is in each micro-batch.
"""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Choice, Duration, ListOf, Sql, Text
from penstock.spark.pipelines.steps.step import Complain, Step, StepContext, as_list

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TIMES = ("time", "otherTime", "within")


def reads(options: Options) -> tuple[str, ...]:
    """The other side."""
    return (options["with"],) if options["with"] else ()


def check(options: Options, complain: Complain) -> None:
    """All three of the times or none; columns or a condition."""
    given = [name for name in _TIMES if options[name]]
    if given and len(given) < len(_TIMES):
        missing = [name for name in _TIMES if name not in given]
        complain(
            f"The step 'join' has {given[0]!r}, but no {missing[0]!r}.",
            "Two streams need 'time', 'otherTime' and 'within'; a stream and a table need none of them.",
        )
    if bool(options["on"]) == bool(options["where"]):
        complain(
            "The step 'join' needs either 'on' or 'where'.",
            "Name the columns both sides have, or a condition.",
        )


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Join on columns that both sides have, which then stand once in the result, or on a condition."""
    left, right = frame, context.dataset(options["with"])
    if options["within"]:
        left = left.withWatermark(options["time"], options["watermark"])
        right = right.withWatermark(options["otherTime"], options["watermark"])
    left, right = left.alias("left"), right.alias("right")
    joined = left.join(right, _condition(options), options["how"])
    return _without_doubles(joined, left, right, options)


def _condition(options: Options) -> "Column":
    from pyspark.sql import functions as F

    parts = [F.col(f"left.`{name}`") == F.col(f"right.`{name}`") for name in as_list(options["on"])]
    if options["where"]:
        parts.append(F.expr(options["where"]))
    if options["within"]:
        near = F.expr(f"INTERVAL {options['within']}")
        time, other = F.col(f"left.`{options['time']}`"), F.col(f"right.`{options['otherTime']}`")
        parts += [other >= time - near, other <= time + near]
    condition = parts[0]
    for part in parts[1:]:
        condition = condition & part
    return condition


def _without_doubles(
    joined: "DataFrame", left: "DataFrame", right: "DataFrame", options: Options
) -> "DataFrame":
    """Every column of the left side, then those of the right side that the left one does not have."""
    from pyspark.sql import functions as F

    if options["how"] in ("left_semi", "left_anti"):
        return joined
    on, prefix = as_list(options["on"]), options["prefix"]
    is_outer = options["how"] in ("right", "full")
    columns = [
        F.coalesce(F.col(f"left.`{name}`"), F.col(f"right.`{name}`")).alias(name)
        if name in on and is_outer
        else F.col(f"left.`{name}`")
        for name in left.columns
    ]
    columns += [
        F.col(f"right.`{name}`").alias(f"{prefix}{name}")
        for name in right.columns
        if name not in on and (prefix or name not in left.columns)
    ]
    return joined.select(*columns)


JOIN = Step(
    name="join",
    summary="Brings rows together with those of another stream, or of a table.",
    fields=(
        Field(
            name="with",
            kind=Text("a source, view or table of the pipeline"),
            is_required=True,
            doc="The other side: another source, view or table of the pipeline.",
        ),
        Field(
            name="on",
            kind=ListOf(Text("a column")),
            default=(),
            doc="Columns that both sides have and that must be equal; they stand once in the result.",
        ),
        Field(
            name="where",
            kind=Sql(),
            doc="A condition in place of `on`; `left.x` and `right.x` are the columns of the two sides.",
        ),
        Field(
            name="how",
            kind=Choice(("inner", "left", "right", "full", "left_semi", "left_anti")),
            default="inner",
            doc="Which rows without a partner stay. With a table on the right, Spark allows `inner`, `left`, "
            "`left_semi` and `left_anti`.",
        ),
        Field(name="time", kind=Text("a column"), doc="Two streams: the event time of this side."),
        Field(name="otherTime", kind=Text("a column"), doc="Two streams: the event time of the other side."),
        Field(
            name="within",
            kind=Duration(),
            doc="Two streams: how far apart in event time two rows may be that belong together.",
        ),
        Field(
            name="watermark",
            kind=Duration(),
            default="1 minute",
            doc="Two streams: how late rows of either side may be.",
        ),
        Field(
            name="prefix",
            kind=Text("the beginning of a name", r"\w+"),
            default="",
            doc="Put before the names of the other side's columns. Without it, those that this side has too "
            "are left out.",
        ),
    ),
    is_stateful=True,
    reads=reads,
    check=check,
    build=build,
    example="""- join: {with: payments, on: order_id, time: ordered_at, otherTime: paid_at, within: 1 hour}
- join: {with: customers, on: customer_id, how: left}""",
)
