"""Pipelines written in Python: decorators with the names and arguments of Spark's Declarative Pipelines.

::

    from penstock.spark import pipelines as dp

    @dp.table
    def clicks():
        return spark.readStream.format("penstock").option("subscribe", "clicks").load()

Moving to Declarative Pipelines changes that import to ``from pyspark import pipelines as dp``. What they
have no word for (``output_mode``, ``trigger``, ``key``, ``pipeline``, ``step``) is extra here. A decorator
only notes what it was given in the collection that the loader has opened; functions are called when Spark is
there.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.spark.pipelines.document import Document, node_of
from penstock.spark.pipelines.file_fields import FLOW_FIELDS
from penstock.spark.pipelines.model import Flow, OutputMode, Query, Sink, Table, Trigger, View
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.parts import read_sink, read_trigger
from penstock.spark.pipelines.problems import PipelineFileError, Place, Problem, Problems

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QueryFunction = Callable[[], "DataFrame"]
Decorator = Callable[[QueryFunction], QueryFunction]


@dataclass(slots=True)
class Definitions:
    """What the files of a pipeline have defined so far."""

    settings: dict[str, Any] = field(default_factory=dict)
    settings_place: Place | None = None
    views: dict[str, View] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)


_open: list[Definitions] = []


@contextmanager
def collecting() -> Iterator[Definitions]:
    """Take note of everything that is defined meanwhile."""
    _open.append(Definitions())
    try:
        yield _open[-1]
    finally:
        _open.pop()


def pipeline(**settings: Any) -> None:
    """Say what the head of a YAML file says: ``name``, ``storage``, ``kafka``, ``trigger`` and so on."""
    definitions, place = _definitions("pipeline")
    if definitions.settings_place is not None:
        definitions.problems.add(place, "pipeline() was called twice.", hint="Keep one of the calls.")
    definitions.settings, definitions.settings_place = settings, place


def temporary_view(
    query_function: QueryFunction | None = None,
    *,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
) -> Any:
    """Make a function a view: what it returns can be read by its name."""
    definitions, place = _definitions("temporary_view")
    _refuse(definitions, place, spark_conf=spark_conf)

    def define(function: QueryFunction) -> QueryFunction:
        view_name = name or function.__name__
        view = View(name=view_name, query=Query(function=function, place=place), place=place)
        _add(definitions, definitions.views, "view", view_name, view)
        return function

    return define if query_function is None else define(query_function)


def table(  # noqa: PLR0913 - the arguments of Declarative Pipelines
    query_function: QueryFunction | None = None,
    *,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    table_properties: Mapping[str, str] | None = None,
    partition_cols: list[str] | None = None,
    cluster_by: list[str] | None = None,
    schema: Any = None,
    format: str | None = None,
) -> Any:
    """Make a function a streaming table: the rows it returns are kept below the pipeline's storage."""
    definitions, place = _definitions("table")
    _refuse(definitions, place, table_properties=table_properties, cluster_by=cluster_by, schema=schema)

    def define(function: QueryFunction) -> QueryFunction:
        table_name = name or function.__name__
        _add_table(definitions, table_name, place, format=format, partition_cols=partition_cols)
        flow = Flow(
            name=table_name,
            query=Query(function=function, place=place),
            target=table_name,
            configuration=dict(spark_conf or {}),
            place=place,
        )
        _add(definitions, definitions.flows, "flow", table_name, flow)
        return function

    return define if query_function is None else define(query_function)


def create_streaming_table(
    name: str,
    *,
    comment: str | None = None,
    table_properties: Mapping[str, str] | None = None,
    partition_cols: list[str] | None = None,
    cluster_by: list[str] | None = None,
    schema: Any = None,
    format: str | None = None,
) -> None:
    """Make a table that ``append_flow`` fills."""
    definitions, place = _definitions("create_streaming_table")
    _refuse(definitions, place, table_properties=table_properties, cluster_by=cluster_by, schema=schema)
    _add_table(definitions, name, place, format=format, partition_cols=partition_cols)


def append_flow(
    *,
    target: str,
    name: str | None = None,
    spark_conf: Mapping[str, str] | None = None,
    output_mode: str = "append",
    trigger: Mapping[str, Any] | str | None = None,
) -> Decorator:
    """Make a function a flow: the rows it returns go to a sink or a table."""
    definitions, place = _definitions("append_flow")
    mode = _read_mode(output_mode, place, definitions)
    parsed = _read_trigger(trigger, place, definitions)

    def define(function: QueryFunction) -> QueryFunction:
        flow_name = name or function.__name__
        flow = Flow(
            name=flow_name,
            query=Query(function=function, place=place),
            target=target,
            output_mode=mode,
            trigger=parsed,
            configuration=dict(spark_conf or {}),
            place=place,
        )
        _add(definitions, definitions.flows, "flow", flow_name, flow)
        return function

    return define


def create_sink(name: str, format: str, options: Mapping[str, Any] | None = None, **more: Any) -> None:
    """Make a sink for flows; ``key``, ``value``, ``headers`` and ``partitionBy`` are those of a YAML file."""
    definitions, place = _definitions("create_sink")
    node = node_of({"format": format, "options": dict(options or {}), **more})
    reading = Reading(Document(place.file))
    sink = read_sink(name, node, reading)
    _note_at(place, reading.problems, definitions)
    if sink is not None:
        _add(definitions, definitions.sinks, "sink", name, replace(sink, place=place, option_places={}))


def _refuse(definitions: Definitions, place: Place, **given: Any) -> None:
    """Arguments of Declarative Pipelines that mean nothing here are not taken in silence."""
    for name in (name for name, value in given.items() if value):
        definitions.problems.add(
            place,
            f"{name} has no meaning outside of Spark's Declarative Pipelines.",
            hint="Leave it out; settings of one flow are `spark_conf` of its append_flow or table.",
        )


def _add_table(
    definitions: Definitions, name: str, place: Place, *, format: str | None, partition_cols: list[str] | None
) -> None:
    made = Table(name=name, format=format or "parquet", partition_by=tuple(partition_cols or ()), place=place)
    _add(definitions, definitions.tables, "table", name, made)


def _add(definitions: Definitions, things: dict[str, Any], noun: str, name: str, thing: Any) -> None:
    if name in things:
        first = things[name].place
        definitions.problems.add(
            thing.place,
            f"There is already a {noun} {name!r}, at {first}.",
            hint="Give one of them another name.",
        )
    else:
        things[name] = thing


def _read_mode(text: str, place: Place, definitions: Definitions) -> OutputMode:
    reading = Reading(Document(place.file))
    mode = next(each for each in FLOW_FIELDS if each.name == "outputMode").kind
    word = mode.read(node_of(text), reading.document, reading.problems)
    _note_at(place, reading.problems, definitions)
    return OutputMode(word or "append")


def _read_trigger(
    trigger: Mapping[str, Any] | str | None, place: Place, definitions: Definitions
) -> Trigger | None:
    reading = Reading(Document(place.file))
    given = dict(trigger) if isinstance(trigger, Mapping) else trigger
    parsed = None if given is None else read_trigger(node_of(given), reading)
    _note_at(place, reading.problems, definitions)
    return parsed


def _note_at(place: Place, problems: Problems, definitions: Definitions) -> None:
    """What was wrong with values that a program made is wrong where the program called us."""
    for problem in problems:
        definitions.problems.add(place, problem.message, hint=problem.hint)


def _definitions(caller: str) -> tuple[Definitions, Place]:
    """The open collection, and where in the pipeline file its function was called."""
    frame = sys._getframe(2)
    place = Place(frame.f_code.co_filename, frame.f_lineno, 1)
    if not _open:
        raise PipelineFileError(
            [
                Problem(
                    place,
                    f"{caller}() belongs in a pipeline file.",
                    "Run it with `penstock pipeline run FILE`.",
                )
            ]
        )
    return _open[-1], place
