"""State of one's own for each key, in Python: Spark's ``transformWithState``.

The processor is a class in a Python file beside the pipeline: a subclass of pyspark's ``StatefulProcessor``
with ``init``, ``handleInputRows`` and, for timers, ``handleExpiredTimer``. Python is called for every key of
every micro-batch, and pandas has to be installed (``penstock[stateful]``): where ``window``, ``dedup`` or
``join`` can do it, they are an order of magnitude faster.
"""

from typing import TYPE_CHECKING

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.fields.kinds import Choice, Duration, ListOf, Schema, Text
from penstock.spark.pipelines.steps.paths import resolved
from penstock.spark.pipelines.steps.step import Complain, Step, StepContext, as_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_TIME_MODES = {"none": "None", "processing": "ProcessingTime", "event": "EventTime"}


def check(options: Options, complain: Complain) -> None:
    """Event time needs a column and a watermark."""
    if options["timers"] == "event" and not (options["time"] and options["watermark"]):
        complain(
            "Timers of event time need 'time' and 'watermark'.",
            "Add the column of the event time and how late rows may be.",
        )


def files(options: Options) -> tuple[str, ...]:
    """The file of the class."""
    return (options["processor"].rpartition(":")[0],)


def build(frame: "DataFrame", options: Options, context: StepContext) -> "DataFrame":
    """Group by the keys and hand each group's rows to the processor."""
    from penstock.spark.pipelines.python_files import load_class

    path, _, name = options["processor"].rpartition(":")
    processor = load_class(resolved(path, context.directory), name)
    marked = frame.withWatermark(options["time"], options["watermark"]) if options["watermark"] else frame
    return marked.groupBy(*as_list(options["by"])).transformWithState(
        statefulProcessor=processor(),
        outputStructType=options["schema"],
        outputMode=options["mode"].capitalize(),
        timeMode=_TIME_MODES[options["timers"]],
    )


STATEFUL = Step(
    name="stateful",
    summary="Keeps state for each key in a Python class of yours (`transformWithState`).",
    fields=(
        Field(
            name="processor",
            kind=Text("a Python file and a class like 'visits.py:Visits'", r".+\.py:\w+"),
            is_required=True,
            doc="A Python file, relative to the pipeline file, and the class in it: `visits.py:Visits`.",
        ),
        Field(
            name="by",
            kind=ListOf(Text("a column")),
            is_required=True,
            doc="The columns of the key that state is kept for.",
        ),
        Field(
            name="schema",
            kind=Schema(),
            is_required=True,
            doc="The columns of the rows that the class yields.",
        ),
        Field(
            name="mode",
            kind=Choice(("append", "update")),
            default="append",
            doc="Whether its rows are new ones or replace earlier ones; the flow's `outputMode` has to be "
            "the same.",
        ),
        Field(
            name="timers",
            kind=Choice(tuple(_TIME_MODES)),
            default="none",
            doc="By which time its timers go off.",
        ),
        Field(name="time", kind=Text("a column"), doc="The column of the event time, for timers of `event`."),
        Field(name="watermark", kind=Duration(), doc="How late rows may be, for timers of `event`."),
    ),
    is_stateful=True,
    configuration={"spark.sql.streaming.stateStore.providerClass": ROCKSDB},
    check=check,
    files=files,
    build=build,
    example="""- stateful:
    processor: visits.py:Visits
    by: user
    schema: user string, visits bigint
    mode: update""",
)
