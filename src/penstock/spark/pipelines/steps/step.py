"""What a step is: a name, a table of options, an example, and the functions that make Spark do it.

A step's module is imported to check files where Spark is not installed, so it imports Spark only inside its
functions. Three kinds of functions may belong to a step:

- ``build`` takes rows and gives rows; it only describes, nothing runs yet.
- ``side`` gives the records that do not go on with the others: what could not be parsed, what came too late.
  It is called on a batch of the records that one micro-batch read; ``running.side_outputs`` says when.
- ``start`` makes the step an *ending*: it takes the rows in place of a sink and starts the query itself, or
  work in a thread of its own that looks like one (``errand``). It comes back at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from penstock.spark.pipelines.fields.field import Field, Options
from penstock.spark.pipelines.model import Holder, Trigger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.spark.pipelines.running.refreshing import Refreshing

RECORD_COLUMN = "__record"
"""A struct of the whole record, carried beside its row where side outputs are made."""

Complain = Callable[[str, str], None]
"""Takes a message and a hint, for options that contradict each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What a step may ask of the pipeline it is part of."""

    spark: "SparkSession"
    pipeline: str
    holder: Holder
    """The flow, view or source that the step belongs to."""
    position: int
    """Which of its steps it is, from 0."""
    dataset: "Callable[[str], DataFrame]"
    """The rows of another source, view or table of the pipeline by its name."""
    topic_options: Mapping[str, str]
    """The ``kafka.*`` options of the pipeline, for whoever reads or writes topics itself."""
    refreshing: "Refreshing"
    """Keeps rows that do not stream."""
    directory: str
    """The directory of the pipeline file, which relative paths start from."""
    carried: tuple[str, ...] = ()
    """Columns that have to come out as they went in."""

    @property
    def label(self) -> str:
        """A name for this use of the step, unique within the pipeline."""
        return self.holder.label(self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideContext:
    """What is known of the micro-batch whose records are looked at again."""

    step: StepContext
    late_watermark_ms: int
    """What the micro-batch took for too late: the watermark before it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingContext:
    """What an ending needs to start its query."""

    step: StepContext
    checkpoint: str
    trigger: Trigger
    query_name: str


class RunningQuery(Protocol):
    """What is asked of a flow that runs: that part of ``StreamingQuery`` which others can do as well."""

    @property
    def isActive(self) -> bool:
        """Whether it has not ended yet."""

    @property
    def status(self) -> Mapping[str, Any]:
        """``isTriggerActive``: whether it is in the middle of something."""

    @property
    def lastProgress(self) -> Any:
        """The last report; None if there is none."""

    @property
    def recentProgress(self) -> Sequence[Any]:
        """The last reports."""

    def exception(self) -> BaseException | None:
        """What it failed with."""

    def stop(self) -> None:
        """End it now."""


Build = Callable[["DataFrame", Options, StepContext], "DataFrame"]
Side = Callable[["DataFrame", Options, SideContext], "DataFrame"]
Start = Callable[["DataFrame | None", Options, EndingContext], RunningQuery]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A line of the table of steps."""

    name: str
    summary: str
    fields: Sequence[Field]
    example: str
    """YAML of one use, as it stands in a list of steps (an ending: as it stands in a flow)."""
    build: Build | None = None
    shorthand: str = ""
    """The option that a bare text or list stands for."""
    keeps_records: bool = False
    """A record gives at most one row, and ``StepContext.carried`` comes out: side outputs may follow."""
    is_stateful: bool = False
    """It keeps state between micro-batches, which the checkpoint holds."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark without which the step does not run; a flow that uses it gets them."""
    reads: Callable[[Options], Sequence[str]] = lambda options: ()
    """The other datasets of the pipeline that it reads."""
    check: Callable[[Options, Complain], None] = lambda options, complain: None
    files: Callable[[Options], Sequence[str]] = lambda options: ()
    """The files it needs, as the options name them."""
    side_topic: Callable[[Options], str] = lambda options: ""
    """Where its side output goes; empty if it has none."""
    side: Side | None = None
    start: Start | None = None

    @property
    def is_ending(self) -> bool:
        """Whether it takes the place of a sink."""
        return self.start is not None


def topic_of(option: str) -> Callable[[Options], str]:
    """For ``side_topic``: the value of an option."""

    def topic(options: Options) -> str:
        return str(options[option] or "")

    return topic


def as_list(value: Any) -> list[str]:
    """A list option as Spark's functions take it."""
    return list(value or ())
