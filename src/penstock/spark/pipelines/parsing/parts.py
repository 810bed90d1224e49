"""Sources, views, tables, flows, sinks and triggers of a file."""

import re
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from penstock.spark.pipelines.fields.kinds import scalar_text
from penstock.spark.pipelines.file_fields import (
    FLOW_FIELDS,
    NAME_PATTERN,
    SINK_FIELDS,
    SINK_VALUE_FIELDS,
    SOURCE_FIELDS,
    TABLE_FIELDS,
    TRIGGER_FIELDS,
    VIEW_FIELDS,
)
from penstock.spark.pipelines.model import (
    Flow,
    OnFailure,
    OutputMode,
    Query,
    ReadMode,
    Sink,
    Source,
    Table,
    Trigger,
    TriggerKind,
    View,
)
from penstock.spark.pipelines.parsing.context import Reading
from penstock.spark.pipelines.parsing.queries import read_query
from penstock.spark.pipelines.parsing.steps import endings_in, read_use
from penstock.spark.pipelines.problems import suggestion
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.paths import resolved


def check_name(name: str, node: Node, reading: Reading) -> None:
    """Note a problem unless SQL can use a name as it is."""
    if not re.fullmatch(NAME_PATTERN, name):
        better = re.sub(r"\W", "_", name)
        reading.complain(node, f"{name!r} cannot be used as a name in SQL.", f"Call it {better!r}.")


def read_source(name: str, node: Node, reading: Reading) -> Source:
    """A source below its name."""
    check_name(name, node, reading)
    values = reading.fields(node, SOURCE_FIELDS, noun=f"The source {name!r}")
    parsed = values["value"]
    return Source(
        name=name,
        format=values["format"],
        options=values["options"],
        option_places=reading.key_places(node, "options"),
        schema=values["schema"],
        columns=values["columns"],
        value=None if parsed is None else read_use(STEPS["parse"], parsed, reading),
        read=ReadMode(values["read"]),
        refresh=values["refresh"],
        place=reading.place(node),
    )


def read_view(name: str, node: Node, reading: Reading) -> View | None:
    """A view below its name; a bare text is its SQL."""
    check_name(name, node, reading)
    noun = f"The view {name!r}"
    if isinstance(node, ScalarNode):
        query = read_query({"sql": node, "from": None, "steps": None}, node, reading, noun=noun)
    else:
        query = read_query(reading.fields(node, VIEW_FIELDS, noun=noun), node, reading, noun=noun)
    return None if query is None else View(name=name, query=query, place=reading.place(node))


def read_table(name: str, node: Node, reading: Reading) -> tuple[Table, Flow | None]:
    """A table below its name, and the flow that fills it; others may fill it too."""
    check_name(name, node, reading)
    noun, place = f"The table {name!r}", reading.place(node)
    values = reading.fields(node, TABLE_FIELDS, noun=noun)
    table = Table(name=name, format=values["format"], partition_by=values["partitionBy"], place=place)
    if values["sql"] is None and values["from"] is None and values["steps"] is None:
        return table, None
    query = read_query(values, node, reading, noun=noun)
    if query is None:
        return table, None
    flow = Flow(
        name=name,
        query=query,
        target=name,
        trigger=read_trigger(values["trigger"], reading),
        configuration=values["configuration"],
        place=place,
    )
    return table, flow


def read_sink(name: str, node: Node, reading: Reading) -> Sink | None:
    """A sink below its name."""
    values = reading.fields(node, SINK_FIELDS, noun=f"The sink {name!r}")
    options: dict[str, str] = dict(values["options"])
    if values["path"]:
        options["path"] = resolved(values["path"], str(Path(reading.document.file).parent))
    value = values["value"]
    return Sink(
        name=name,
        format=values["format"],
        options=options,
        option_places=reading.key_places(node, "options"),
        key=values["key"],
        value=None
        if value is None
        else reading.fields(value, SINK_VALUE_FIELDS, noun=f"The value of the sink {name!r}"),
        headers=values["headers"],
        partition=values["partition"],
        timestamp=values["timestamp"],
        partition_by=values["partitionBy"],
        place=reading.place(node),
    )


def read_flow(name: str, node: Node, reading: Reading) -> tuple[Flow, Sink | None] | None:
    """A flow below its name, and its sink if it is declared right there."""
    check_name(name, node, reading)
    if not isinstance(node, MappingNode):
        reading.complain(
            node, f"The flow {name!r} must be a mapping.", "Give it `sql:` or `from:`, and a `sink:`."
        )
        return None
    noun, endings = f"The flow {name!r}", endings_in(node, reading)
    values = _flow_values(node, reading, noun=noun)
    query = read_query(values, node, reading, noun=noun, is_needed=not endings)
    target, sink = _read_target(name, values["sink"], reading)
    _check_ways_out(node, values, len(endings), reading, noun=noun)
    flow = Flow(
        name=name,
        query=query or Query(place=reading.place(node)),
        target=target,
        ending=read_use(*endings[0], reading) if endings else None,
        output_mode=OutputMode(values["outputMode"]),
        trigger=read_trigger(values["trigger"], reading),
        configuration=values["configuration"],
        on_failure=OnFailure(values["onFailure"]) if values["onFailure"] else None,
        place=reading.place(node),
    )
    return flow, sink


def _flow_values(node: MappingNode, reading: Reading, *, noun: str) -> dict[str, Any]:
    """The values of a flow's own keys; those of endings are read elsewhere."""
    own = [(key, value) for key, value in node.value if not _names_ending(key)]
    known = MappingNode(node.tag, own, start_mark=node.start_mark, end_mark=node.end_mark)
    return reading.fields(known, FLOW_FIELDS, noun=noun)


def _names_ending(key: Node) -> bool:
    step = STEPS.get(scalar_text(key) or "")
    return step is not None and step.is_ending


def _check_ways_out(
    node: Node, values: dict[str, Any], ending_count: int, reading: Reading, *, noun: str
) -> None:
    if values["sink"] is None and not ending_count:
        endings = [step.name for step in STEPS.values() if step.is_ending]
        others = f", or one of: {', '.join(endings)}" if endings else ""
        reading.complain(node, f"{noun} has no sink.", f"Add `sink:` with a sink's name or its keys{others}.")
    if ending_count + (values["sink"] is not None) > 1:
        reading.complain(
            node, f"{noun} ends in more than one way.", "Keep one of them; make another flow for the other."
        )


def _read_target(flow: str, node: Node | None, reading: Reading) -> tuple[str, Sink | None]:
    """The name of a flow's target, and the sink itself where it is declared in the flow."""
    if node is None:
        return "", None
    if isinstance(node, ScalarNode):
        return scalar_text(node) or "", None
    return flow, read_sink(flow, node, reading)


def read_trigger(node: Node | None, reading: Reading) -> Trigger | None:
    """A trigger as a mapping, or as the bare word ``availableNow`` or ``once``."""
    if node is None:
        return None
    ends = (TriggerKind.AVAILABLE_NOW.value, TriggerKind.ONCE.value)
    if isinstance(node, ScalarNode):
        if node.value in ends:
            return Trigger(TriggerKind(node.value))
        hint = (
            suggestion(node.value, ends)
            or "Write `processingTime: 5 seconds`, `availableNow: true` or `once: true`."
        )
        reading.complain(node, f"{node.value!r} is no trigger.", hint)
        return None
    values = reading.fields(node, TRIGGER_FIELDS, noun="A trigger")
    given = [name for name, value in values.items() if value is not None]
    if len(given) > 1:
        reading.complain(node, f"A trigger is one of {' and '.join(given)}.", "Keep one of them.")
    if not given:
        return None
    kind = TriggerKind(given[0])
    return Trigger(kind, values[given[0]]) if kind is TriggerKind.PROCESSING_TIME else Trigger(kind)
