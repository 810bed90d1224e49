"""Whether the parts of a pipeline fit together: names, references, circles, modes, files; without Spark."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.spark.pipelines.graph import SideOutput, canonical, cycles, references, side_outputs
from penstock.spark.pipelines.model import PENSTOCK, Flow, OutputMode, Pipeline, Query, ReadMode, StepUse
from penstock.spark.pipelines.option_check import (
    check_common_options,
    check_sink_options,
    check_source_options,
)
from penstock.spark.pipelines.problems import Place, Problems, suggestion
from penstock.spark.pipelines.sql_text import chance, tokens
from penstock.spark.pipelines.steps import STEPS
from penstock.spark.pipelines.steps.paths import local_path, resolved
from penstock.spark.pipelines.steps.sql_options import pieces_of

_APPEND_ONLY = frozenset({"parquet", "orc", "json", "csv", "text", "xml", "avro"})
_DECIDING = frozenset({"where", "topics"})
"""Options by whose SQL a row goes one way or another."""
_SIDE_HINT = (
    "It needs the records themselves: let the flow be `from:` a topic's source, and put nothing before this "
    "step but parse, filter, select, route and dead_letters."
)


def validate(pipeline: Pipeline, problems: Problems) -> None:
    """Add what does not fit together to ``problems``."""
    _check_unique(pipeline, problems)
    _check_reads(pipeline, problems)
    _check_sources(pipeline, problems)
    check_common_options(pipeline, problems)
    check_source_options(pipeline, problems)
    check_sink_options(pipeline, problems)
    for flow in pipeline.flows.values():
        _check_target(pipeline, flow, problems)
        _check_modes(pipeline, flow, problems)
    _check_sides(pipeline, problems)
    for holder, query in _queries(pipeline):
        _check_files(pipeline, holder, query, problems)
    if not pipeline.flows and not len(problems):
        problems.add(
            Place(pipeline.file, 1, 1),
            "The pipeline has no flow.",
            hint="Add `flows:`; only they make something run.",
        )


def _queries(pipeline: Pipeline) -> list[tuple[str, Query]]:
    views = [(f"view {view.name!r}", view.query) for view in pipeline.views.values()]
    return views + [(f"flow {flow.name!r}", flow.query) for flow in pipeline.flows.values()]


def _check_unique(pipeline: Pipeline, problems: Problems) -> None:
    """Sources, views and tables share one set of names, as SQL sees them."""
    seen: dict[str, str] = {}
    kinds: tuple[tuple[str, Mapping[str, object]], ...] = (
        ("source", pipeline.sources),
        ("view", pipeline.views),
        ("table", pipeline.tables),
    )
    for noun, things in kinds:
        for name, thing in things.items():
            other = seen.setdefault(name.lower(), noun)
            if other != noun:
                problems.add(
                    thing.place,  # type: ignore[attr-defined]
                    f"There is both a {other} and a {noun} called {name!r}.",
                    hint="Queries could mean either; give one of them another name.",
                )


def _check_reads(pipeline: Pipeline, problems: Problems) -> None:
    for holder, query in _queries(pipeline):
        for reference in references(query):
            if canonical(pipeline, reference.name) is None:
                known = suggestion(reference.name, pipeline.datasets)
                problems.add(
                    reference.place,
                    f"The {holder} reads {reference.name!r}, which is no source, view or table of the "
                    f"pipeline.",
                    hint=known or "Add it below `sources:`; a table of a catalog has a dot in its name.",
                )
    for way in cycles(pipeline):
        start = pipeline.views.get(way[0]) or pipeline.tables[way[0]]
        problems.add(
            start.place,
            f"{way[0]!r} reads itself: {' -> '.join(way)}.",
            hint="Break the circle at one of them.",
        )


def _check_sources(pipeline: Pipeline, problems: Problems) -> None:
    for source in pipeline.sources.values():
        if source.read is ReadMode.STREAM and source.refresh != "batch":
            problems.add(
                source.place,
                f"The source {source.name!r} streams and has 'refresh'.",
                hint="Only what is read as `batch` or `table` is refreshed.",
            )
        if source.read is ReadMode.BATCH and source.format != PENSTOCK and source.refresh != "batch":
            problems.add(
                source.place,
                f"The source {source.name!r} has 'refresh', but its format is {source.format!r}.",
                hint="Only topics are read anew; leave it out.",
            )
        if source.read is ReadMode.TABLE and source.format != PENSTOCK:
            problems.add(
                source.place,
                f"The source {source.name!r} is read as a table, but its format is {source.format!r}.",
                hint="Only topics have keys to keep the latest value of; use `read: batch`.",
            )


def _check_target(pipeline: Pipeline, flow: Flow, problems: Problems) -> None:
    if not flow.target or flow.target in pipeline.tables:
        return
    sink = pipeline.sinks.get(flow.target)
    if sink is None:
        names = (*pipeline.sinks, *pipeline.tables)
        problems.add(
            flow.place,
            f"The flow {flow.name!r} writes to {flow.target!r}, which is no sink or table of the pipeline.",
            hint=suggestion(flow.target, names) or "Add it below `sinks:`, or give its keys here.",
        )
        return
    routes = any(use.name == "route" for use in flow.query.steps)
    if routes and (sink.format != PENSTOCK or "topic" in sink.options):
        problems.add(
            sink.place,
            f"The flow {flow.name!r} routes rows to topics, but its sink has a place of its own.",
            hint="Use a sink of format penstock without the option `topic`.",
        )


def _check_modes(pipeline: Pipeline, flow: Flow, problems: Problems) -> None:
    """What the target can take, and what steps ask of the flow."""
    sink = pipeline.sinks.get(flow.target)
    is_append_only = flow.target in pipeline.tables or (sink is not None and sink.format in _APPEND_ONLY)
    if flow.output_mode is not OutputMode.APPEND and is_append_only:
        problems.add(
            flow.place,
            f"The flow {flow.name!r} has the output mode {flow.output_mode}, but its target can only be "
            f"appended to.",
            hint="Use `outputMode: append` with a watermark, or a topic as the sink.",
        )
    for use in flow.query.steps:
        if use.name == "stateful" and use.options["mode"] != flow.output_mode:
            problems.add(
                use.place,
                f"The step 'stateful' has the mode {use.options['mode']}, the flow {flow.name!r} the output "
                f"mode "
                f"{flow.output_mode}.",
                hint=f"Add `outputMode: {use.options['mode']}` to the flow, or change the step's mode.",
            )


def _check_sides(pipeline: Pipeline, problems: Problems) -> None:
    for outputs in side_outputs(pipeline).values():
        for output in outputs:
            if output.source is None:
                problems.add(
                    output.use.place,
                    f"The step {output.use.name!r} cannot tell here which records its rows were made of.",
                    hint=_SIDE_HINT,
                )
            for use, name in _decided_by_chance(output):
                problems.add(
                    use.place,
                    f"The step {use.name!r} goes by {name}(), which says something else each time, but what "
                    "leaves sideways there or later is looked at twice.",
                    hint="Go by the record: hash(key), or a column.",
                )


def _decided_by_chance(output: SideOutput) -> Iterator[tuple[StepUse, str]]:
    """Uses of steps on the way, and the function by which nobody can tell again what left there."""
    made: dict[str, str] = {}  # Columns that such a function has made, and which it was.
    for use in (*(use for _, _, use in output.before), output.use):
        before = dict(made)
        for option, sql in pieces_of(use):
            words = [word.text.strip("`").lower() for word in tokens(sql)]
            column = words.pop() if use.name == "select" and words[-2:-1] == ["as"] else ""
            name = chance(sql) or next((before[word] for word in words if word in before), "")
            if option in _DECIDING and name:
                yield use, name
            made.pop(column, None)
            if column and name:
                made[column] = name


def _check_files(pipeline: Pipeline, holder: str, query: Query, problems: Problems) -> None:
    directory = str(Path(pipeline.file).parent)
    for use in query.steps:
        for name in STEPS[use.name].files(use.options):
            path = local_path(resolved(name, directory))
            if path is not None and not path.exists():
                problems.add(
                    use.place,
                    f"The step {use.name!r} of the {holder} needs {name!r}, which is not there.",
                    hint=f"Looked for {path}.",
                )
