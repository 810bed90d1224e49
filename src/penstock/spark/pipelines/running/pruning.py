"""Which columns of a topic the flows of a pipeline look at, so that no others are sent to Spark.

Spark tells sources in Python nothing of what a query needs: every row comes with all of its columns. Its
optimizer knows, though. So flows are built once without being started, optimized, and the columns that are
left right above each topic are those to read. The flows that run see all columns as before, those that
nobody looks at as nulls.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.spark.pipelines.graph import all_read
from penstock.spark.pipelines.model import PENSTOCK, Flow, Pipeline, ReadMode, Source
from penstock.spark.pipelines.running.datasets import Datasets, unstarted_datasets
from penstock.spark.pipelines.running.flow_queries import configuration_of, configured, flow_rows
from penstock.spark.pipelines.running.records import records
from penstock.spark.pipelines.running.sources import Narrowed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)

_CHOOSING = ("Project", "Aggregate")
"""Nodes of a plan whose expressions are all that is needed of the rows below."""
_PASSING = ("Filter", "EventTimeWatermark")
"""Nodes that look at some columns and pass all of them on."""
_CHEAPEST = "partition"
"""What is read where rows are only counted."""

Options = frozenset[tuple[str, str]]


def narrowed_sources(
    spark: "SparkSession", pipeline: Pipeline, flows: Sequence[Flow], *, topic_options: Mapping[str, str]
) -> dict[str, Narrowed]:
    """Of each topic of which not all columns are needed: which are, and among which.

    Nothing is known where a flow cannot be built, whatever the reason: a column, a registry that is away, a
    key that is no expression. What is wrong with it is told when it is started, and of that flow alone.
    """
    from pyspark.sql.utils import is_remote

    read = frozenset[str]().union(*(all_read(pipeline, flow.query) for flow in flows))
    names = [name for name, source in pipeline.sources.items() if name in read and _is_open(source)]
    if not names or is_remote():
        return {}
    with unstarted_datasets(spark, pipeline, topic_options=topic_options) as datasets:
        try:
            needs = [need for flow in flows for need in _needs_of_flow(datasets, flow)]
            found = {name: _narrowed(next(_topics_of(datasets.get(name)), None), needs) for name in names}
        except Exception as error:
            logger.debug("all columns of topics are read, since a flow cannot be built: %s", error)
            return {}
    return {name: narrowed for name, narrowed in found.items() if narrowed is not None}


def _is_open(source: Source) -> bool:
    """Whether a stream's columns are not chosen yet, by ``columns`` or by what ``value`` keeps."""
    is_stream = source.format == PENSTOCK and source.read is ReadMode.STREAM
    return is_stream and source.value is None and not source.columns


def _needs_of_flow(datasets: Datasets, flow: Flow) -> Iterator["_Topic"]:
    with configured(datasets.spark, configuration_of(datasets.pipeline, flow)):
        rows = flow_rows(datasets, flow)
        if rows is None:
            return
        sink = datasets.pipeline.sinks.get(flow.target)
        if sink is not None and sink.format == PENSTOCK:
            rows = records(rows, sink)
        yield from _topics_of(rows)


@dataclass(frozen=True, slots=True)
class _Topic:
    """A topic in the plan of a query: its options tell it from others."""

    options: Options
    columns: tuple[str, ...]
    needed: frozenset[str]


def _narrowed(topic: _Topic | None, needs: Sequence[_Topic]) -> Narrowed | None:
    """What is needed of a topic by all who read it; None if that is everything, or nobody reads it."""
    if topic is None:  # Spark's plan of the source does not show it as a topic.
        return None
    readers = [need for need in needs if need.options == topic.options]
    needed = frozenset[str]().union(*(reader.needed for reader in readers)) or {_CHEAPEST}
    if not readers or len(needed) == len(topic.columns):
        return None
    return Narrowed(needed=tuple(name for name in topic.columns if name in needed), visible=topic.columns)


def _topics_of(rows: "DataFrame") -> "Iterator[_Topic]":
    """The topics that rows come from, after Spark has thrown out what it can do without."""
    session: Any = rows.sparkSession
    optimizer = session._jsparkSession.sessionState().optimizer()
    yield from _visit(optimizer.execute(rows._jdf.queryExecution().analyzed()), None)


def _visit(node: Any, needed: frozenset[int] | None) -> "Iterator[_Topic]":
    """The topics below a node of which ``needed`` are looked at from above; None if all may be."""
    kind = node.getClass().getSimpleName()
    if kind == "StreamingRelationV2" and node.sourceName() == PENSTOCK:
        yield _topic(node, needed)
    referenced = frozenset(_number(attribute) for attribute in _items(node.references().toSeq()))
    if kind in _CHOOSING:
        needed = referenced
    elif needed is not None:
        needed = needed | referenced if kind in _PASSING else None
    for child in _items(node.children()):
        yield from _visit(child, needed)


def _topic(leaf: Any, needed: frozenset[int] | None) -> _Topic:
    attributes = list(_items(leaf.output()))
    return _Topic(
        options=frozenset(dict(leaf.extraOptions().asCaseSensitiveMap()).items()),
        columns=tuple(attribute.name() for attribute in attributes),
        needed=frozenset(
            attribute.name() for attribute in attributes if needed is None or _number(attribute) in needed
        ),
    )


def _number(attribute: Any) -> int:
    number: int = attribute.exprId().id()
    return number


def _items(sequence: Any) -> Iterator[Any]:
    """What a sequence of Scala's holds."""
    return (sequence.apply(position) for position in range(sequence.length()))
