"""A whole pipeline file of YAML."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, SequenceNode

from penstock.spark.pipelines.document import Document, compose
from penstock.spark.pipelines.fields.kinds import scalar_text
from penstock.spark.pipelines.file_fields import PIPELINE_FIELDS
from penstock.spark.pipelines.model import Flow, OnFailure, Pipeline, Sink, Table, Trigger
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.parts import (
    read_flow,
    read_sink,
    read_source,
    read_table,
    read_trigger,
    read_view,
)
from penstock.spark.pipelines.problems import Problems
from penstock.spark.pipelines.steps.paths import resolved


def parse_pipeline(
    file: str, text: str, *, environment: Mapping[str, str], problems: Problems
) -> Pipeline | None:
    """What a file says; None if it is no YAML mapping at all. Everything wrong with it is in ``problems``."""
    reading = Reading(Document(file, text), problems)
    root = compose(reading.document, problems, environment=environment)
    return None if root is None else _pipeline(root, reading)


def _pipeline(root: MappingNode, reading: Reading) -> Pipeline:
    values = reading.fields(root, PIPELINE_FIELDS, noun="The pipeline")
    tables = reading.named(values["tables"], "table", partial(_with(read_table), reading))
    flows = reading.named(values["flows"], "flow", partial(_with(read_flow), reading))
    sinks = reading.named(values["sinks"], "sink", partial(_with(read_sink), reading))
    _check_names(tables, flows, sinks, reading)
    directory = str(Path(reading.document.file).parent)
    return Pipeline(
        name=values["name"] or "",
        storage=resolved(values["storage"], directory) if values["storage"] else "",
        file=reading.document.file,
        configuration=values["configuration"],
        kafka=values["kafka"],
        kafka_places=reading.key_places(root, "kafka"),
        libraries=_libraries(values["libraries"], reading),
        catalog=values["catalog"],
        database=values["database"] or values["schema"],
        sources=reading.named(values["sources"], "source", partial(_with(read_source), reading)),
        views=reading.named(values["views"], "view", partial(_with(read_view), reading)),
        tables={name: table for name, (table, _) in tables.items()},
        sinks={**sinks, **{name: sink for name, (_, sink) in flows.items() if sink is not None}},
        flows={
            **{name: flow for name, (_, flow) in tables.items() if flow is not None},
            **{name: flow for name, (flow, _) in flows.items()},
        },
        trigger=read_trigger(values["trigger"], reading) or Trigger(),
        on_failure=OnFailure(values["onFailure"]),
    )


def _with(read: Any) -> Any:
    """Readers take the reading last; tables of names give name and node."""
    return lambda reading, name, node: read(name, node, reading)


def _check_names(
    tables: Mapping[str, tuple[Table, Flow | None]],
    flows: Mapping[str, tuple[Flow, Sink | None]],
    sinks: Mapping[str, Sink],
    reading: Reading,
) -> None:
    """A table's own flow has its name, and a sink that is declared in a flow has the flow's."""
    for name, (flow, sink) in flows.items():
        if name in tables and tables[name][1] is not None:
            reading.problems.add(
                flow.place,
                f"The table {name!r} has a flow of that name already.",
                hint="Give this flow another name.",
            )
        if sink is not None and name in sinks:
            reading.problems.add(
                sink.place,
                f"There is already a sink {name!r}.",
                hint=f"Write `sink: {name}`, or rename one of them.",
            )


def _libraries(node: Node | None, reading: Reading) -> tuple[str, ...]:
    """Paths, plain or as Declarative Pipelines write them: ``- glob: {include: path}``."""
    if node is None:
        return ()
    if not isinstance(node, SequenceNode):
        reading.complain(
            node, "'libraries' must be a list.", "Write each as `- path.py` or `- glob: {include: dir/**}`."
        )
        return ()
    paths = [_library(item, reading) for item in node.value]
    return tuple(path for path in paths if path)


def _library(node: Node, reading: Reading) -> str:
    if path := scalar_text(node):
        return path
    inner: Node = node
    for word in ("glob", "include"):
        found = (
            [value for key, value in inner.value if scalar_text(key) == word]
            if isinstance(inner, MappingNode)
            else []
        )
        if not found:
            reading.complain(
                node, "A library is a path.", "Write it as `- path.py` or `- glob: {include: dir/**}`."
            )
            return ""
        inner = found[0]
    return scalar_text(inner) or ""
