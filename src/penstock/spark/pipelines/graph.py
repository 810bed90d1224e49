"""How the parts of a pipeline hang together: who reads whom, in which order, what leaves sideways."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.spark.pipelines.model import Flow, Holder, Pipeline, Query, ReadMode, Source, StepUse
from penstock.spark.pipelines.problems import Place
from penstock.spark.pipelines.steps import STEPS


@dataclass(frozen=True, slots=True)
class Reference:
    """A dataset that a query names, and where it does."""

    name: str
    place: Place


def references(query: Query) -> Iterator[Reference]:
    """Every dataset that a query reads; nothing is known of what functions read."""
    if query.origin:
        yield Reference(query.origin, query.place)
    for name, place in query.sql_places:
        yield Reference(name, place)
    for use in query.steps:
        for name in STEPS[use.name].reads(use.options):
            yield Reference(name, use.place)


def canonical(pipeline: Pipeline, name: str) -> str | None:
    """The dataset that SQL means by a name, whatever its upper and lower case; None if there is none."""
    return {each.lower(): each for each in pipeline.datasets}.get(name.lower())


def queries_of(pipeline: Pipeline, dataset: str) -> Sequence[Query]:
    """The queries that a view or table stands for; a source has none."""
    if dataset in pipeline.views:
        return (pipeline.views[dataset].query,)
    return tuple(flow.query for flow in pipeline.flows_into(dataset)) if dataset in pipeline.tables else ()


def datasets_read(pipeline: Pipeline, query: Query) -> Iterator[str]:
    """The pipeline's own datasets among what a query reads."""
    for reference in references(query):
        name = canonical(pipeline, reference.name)
        if name is not None:
            yield name


def cycles(pipeline: Pipeline) -> Iterator[tuple[str, ...]]:
    """Views and tables that read themselves over others, as the way round; each circle is told once."""
    told: set[frozenset[str]] = set()
    for start in (*pipeline.views, *pipeline.tables):
        way = _way_back(pipeline, start, (start,))
        if way is not None and frozenset(way) not in told:
            told.add(frozenset(way))
            yield way


def _way_back(pipeline: Pipeline, start: str, way: tuple[str, ...]) -> tuple[str, ...] | None:
    for query in queries_of(pipeline, way[-1]):
        for name in datasets_read(pipeline, query):
            if name == start:
                return (*way, start)
            if name not in way and (found := _way_back(pipeline, start, (*way, name))):
                return found
    return None


def all_read(pipeline: Pipeline, query: Query) -> frozenset[str]:
    """Everything a query reads, through views too; a table is the end of a way, since its rows are stored."""
    found: set[str] = set()
    waiting = list(datasets_read(pipeline, query))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            if name in pipeline.views:
                waiting += datasets_read(pipeline, pipeline.views[name].query)
    return frozenset(found)


def levels(pipeline: Pipeline, flows: Sequence[Flow]) -> list[list[Flow]]:
    """The flows in rounds: each after those that fill the tables it reads."""
    left, rounds = list(flows), []
    while left:
        waiting_for = {flow.target for flow in left if flow.target in pipeline.tables}
        ready = [flow for flow in left if not all_read(pipeline, flow.query) & (waiting_for - {flow.target})]
        ready = ready or list(left)  # A function's reads are unknown; circles were refused before.
        rounds.append(ready)
        left = [flow for flow in left if flow not in ready]
    return rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class SideOutput:
    """Records that leave a flow at a step: from which source, and what is done with them before that step."""

    holder: Holder
    """The source, view or flow that the step belongs to."""
    position: int
    use: StepUse
    source: Source | None
    """None if the rows cannot be followed back to the records of one topic."""
    before: tuple[tuple[Holder, int, StepUse], ...] = ()
    """The steps on the way from the source, each with its holder and position."""

    @property
    def label(self) -> str:
        """The name under which it is counted."""
        return self.holder.label(self.position)

    @property
    def topic(self) -> str:
        """Where the records go."""
        return STEPS[self.use.name].side_topic(self.use.options)


def side_outputs(pipeline: Pipeline) -> dict[str, list[SideOutput]]:
    """Those of each flow. What several flows share, a source or view, belongs to the first of them."""
    owned: dict[str, list[SideOutput]] = {name: [] for name in pipeline.flows}
    taken: set[str] = set()
    for flow in pipeline.flows.values():
        held = [*_held(pipeline, flow.holder, flow.query)]
        for name in sorted(all_read(pipeline, flow.query) - taken):
            taken.add(name)
            held += _held_by_dataset(pipeline, name)
        owned[flow.name] += held
    return owned


def _held_by_dataset(pipeline: Pipeline, name: str) -> Iterator[SideOutput]:
    if name in pipeline.views:
        view = pipeline.views[name]
        yield from _held(pipeline, view.holder, view.query)
    elif name in pipeline.sources:
        source = pipeline.sources[name]
        if source.value is not None and STEPS["parse"].side_topic(source.value.options):
            yield SideOutput(holder=source.holder, position=0, use=source.value, source=_as_topic(source))


def _held(pipeline: Pipeline, holder: Holder, query: Query) -> Iterator[SideOutput]:
    source, before = _way_from_source(pipeline, query)
    for position, use in enumerate(query.steps):
        if STEPS[use.name].side_topic(use.options):
            yield SideOutput(holder=holder, position=position, use=use, source=source, before=before)
        if not STEPS[use.name].keeps_records:
            source = None
        before = (*before, (holder, position, use))


def _way_from_source(
    pipeline: Pipeline, query: Query
) -> tuple[Source | None, tuple[tuple[Holder, int, StepUse], ...]]:
    """The topic behind a query and the steps from there; none if SQL, a function or a join is between."""
    name = (canonical(pipeline, query.origin) if query.origin else None) or ""
    if name in pipeline.sources:
        source = pipeline.sources[name]
        parsed = () if source.value is None else ((source.holder, 0, source.value),)
        return _as_topic(source), parsed
    if name in pipeline.views:
        view = pipeline.views[name]
        found, before = _way_from_source(pipeline, view.query)
        if all(STEPS[use.name].keeps_records for use in view.query.steps):
            own = tuple((view.holder, position, use) for position, use in enumerate(view.query.steps))
            return found, (*before, *own)
    return None, ()


def _as_topic(source: Source) -> Source | None:
    return source if source.format == "penstock" and source.read is ReadMode.STREAM else None
