"""How far behind a streaming query is, from the progress that Spark reports of it.

Spark's Kafka connector has this as metrics of its sources; Python sources have none, so it is computed from
the offsets in the progress, which are there for every source.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.stream_offset import StreamOffset, parse_stream_offset
from penstock.spark.offsets.stream_steps import backlog, begin_offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLag:
    """How many offsets lie between what a query has read of a source and the ends of its partitions."""

    by_partition: Mapping[TopicPartition, int]
    group_id: str | None
    """The consumer group that follows the query, if it is one of the checkpoint."""

    @property
    def total(self) -> int:
        """Of all partitions."""
        return sum(self.by_partition.values())

    def metrics(self) -> dict[str, str]:
        """Under the names of Spark's Kafka connector, and as texts, as it has them."""
        if not self.by_partition:
            return {}
        lags = self.by_partition.values()
        return {
            "minOffsetsBehindLatest": str(min(lags)),
            "maxOffsetsBehindLatest": str(max(lags)),
            "avgOffsetsBehindLatest": str(self.total / len(lags)),
        }


def source_lags(progress: Mapping[str, Any] | str) -> list[SourceLag | None]:
    """The lag of every source in a query's progress, as ``query.lastProgress.json`` or parsed from it.

    None for sources that are not ours, or whose ends were not looked up yet.
    """
    document = json.loads(progress) if isinstance(progress, str) else progress
    return [_source_lag(source) for source in document["sources"]]


def _source_lag(source: Mapping[str, Any]) -> SourceLag | None:
    end, latest = _offset(source.get("endOffset")), _offset(source.get("latestOffset"))
    if end is None or latest is None:
        return None
    return SourceLag(by_partition=backlog(begin_offsets(end, latest), latest.offsets), group_id=end.group_id)


def _offset(value: Any) -> StreamOffset | None:
    """Progress has offsets as JSON or as texts of JSON; other sources have other things."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return None
    if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
        return None
    try:
        return parse_stream_offset(value)
    except ValueError:
        return None
