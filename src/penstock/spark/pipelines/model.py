"""A pipeline as data: what it reads, what it makes of it, where that goes and when.

The words are those of Spark's Declarative Pipelines. A *source* is read, a *view* is a name for a query, a
*table* is a query whose rows are kept, a *flow* runs a query into a *sink*. Files of YAML and of Python both
become this; ``validation`` checks how the parts refer to each other, ``running`` makes Spark run them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from penstock.spark.pipelines.problems import Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PENSTOCK = "penstock"
"""The format of topics."""


class ReadMode(StrEnum):
    """How a source is read."""

    STREAM = "stream"
    BATCH = "batch"
    TABLE = "table"
    """The latest value of each key: a compacted topic is a table."""


class OutputMode(StrEnum):
    """Which rows of a result a flow writes each time, in Spark's words."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


class OnFailure(StrEnum):
    """What becomes of the other flows when one fails."""

    STOP = "stop"
    CONTINUE = "continue"


class HolderKind(StrEnum):
    """What steps can belong to."""

    SOURCE = "source"
    VIEW = "view"
    FLOW = "flow"


@dataclass(frozen=True, slots=True)
class Holder:
    """What steps belong to. The kind tells a flow from a source or view that has its name, as it may."""

    kind: HolderKind
    name: str

    def label(self, position: int) -> str:
        """A name for one of its steps, counted from 0: no other step of the pipeline has it."""
        return f"{self.kind}_{self.name}_{position}"


class TriggerKind(StrEnum):
    """When micro-batches are made."""

    PROCESSING_TIME = "processingTime"
    AVAILABLE_NOW = "availableNow"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a flow makes its micro-batches; an interval of zero means: as soon as the last one is done."""

    kind: TriggerKind = TriggerKind.PROCESSING_TIME
    interval: str = "0 seconds"

    @property
    def ends(self) -> bool:
        """Whether the flow ends by itself, having read what there was."""
        return self.kind is not TriggerKind.PROCESSING_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class StepUse:
    """A step as a flow uses it: its name and its options, defaults included."""

    name: str
    options: Mapping[str, Any]
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Where rows come from and what is done with them: SQL, or another dataset and steps, or a function."""

    sql: str = ""
    origin: str = ""
    """The dataset whose rows enter the first step; empty with ``sql`` and with ``function``."""
    steps: tuple[StepUse, ...] = ()
    function: "Callable[[], DataFrame] | None" = None
    sql_places: tuple[tuple[str, Place], ...] = ()
    """The tables that ``sql`` reads, and where it says so."""
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something that is read under a name of the pipeline."""

    name: str
    format: str = PENSTOCK
    options: Mapping[str, str] = field(default_factory=dict)
    option_places: Mapping[str, Place] = field(default_factory=dict)
    schema: str = ""
    """Only for formats that need to be told, such as files of JSON."""
    columns: tuple[str, ...] = ()
    """Those of a topic's record to read; all when left out."""
    value: StepUse | None = None
    """How the value of a record becomes columns."""
    read: ReadMode = ReadMode.STREAM
    refresh: str = "batch"
    place: Place

    @property
    def holder(self) -> Holder:
        """As what ``value`` belongs to."""
        return Holder(HolderKind.SOURCE, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A name for a query; nothing is stored."""

    name: str
    query: Query
    place: Place

    @property
    def holder(self) -> Holder:
        """As what its steps belong to."""
        return Holder(HolderKind.VIEW, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """Where the rows of flows go, and how a row becomes a record there."""

    name: str
    format: str = PENSTOCK
    options: Mapping[str, str] = field(default_factory=dict)
    option_places: Mapping[str, Place] = field(default_factory=dict)
    key: str = ""
    """An SQL expression."""
    value: Mapping[str, Any] | None = None
    """How columns become the record's value; see the table of ``value`` of sinks."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """SQL expressions by header."""
    partition: str = ""
    timestamp: str = ""
    partition_by: tuple[str, ...] = ()
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A streaming table: rows that flows of the pipeline append, kept as files below its storage."""

    name: str
    format: str = "parquet"
    partition_by: tuple[str, ...] = ()
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A query that runs into a sink or a table, or into a step that is itself an ending."""

    name: str
    query: Query
    target: str = ""
    """A sink or a table; empty where ``ending`` takes the rows."""
    ending: StepUse | None = None
    output_mode: OutputMode = OutputMode.APPEND
    trigger: Trigger | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)
    on_failure: OnFailure | None = None
    place: Place

    @property
    def holder(self) -> Holder:
        """As what its steps belong to."""
        return Holder(HolderKind.FLOW, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Everything that a pipeline file says."""

    name: str
    storage: str
    """A URI or path below which checkpoints and tables are kept."""
    file: str
    configuration: Mapping[str, str] = field(default_factory=dict)
    kafka: Mapping[str, str] = field(default_factory=dict)
    """Options ``kafka.*`` of all sources and sinks, without that prefix."""
    kafka_places: Mapping[str, Place] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    catalog: str = ""
    database: str = ""
    sources: Mapping[str, Source] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    sinks: Mapping[str, Sink] = field(default_factory=dict)
    flows: Mapping[str, Flow] = field(default_factory=dict)
    trigger: Trigger = field(default_factory=Trigger)
    on_failure: OnFailure = OnFailure.STOP

    @property
    def topic_options(self) -> dict[str, str]:
        """What ``kafka`` says, as options of sources and sinks."""
        return {f"kafka.{name}": value for name, value in self.kafka.items()}

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every name that a query can read."""
        return (*self.sources, *self.views, *self.tables)

    def flows_into(self, target: str) -> Iterable[Flow]:
        """The flows that write a sink or table."""
        return (flow for flow in self.flows.values() if flow.target == target)

    def trigger_of(self, flow: Flow) -> Trigger:
        """The flow's own, or the pipeline's."""
        return flow.trigger or self.trigger

    def on_failure_of(self, flow: Flow) -> OnFailure:
        """The flow's own, or the pipeline's."""
        return flow.on_failure or self.on_failure
