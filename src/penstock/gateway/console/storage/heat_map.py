"""When which partition was written to: a row for each partition, a column for each stretch of time."""

from collections.abc import Mapping
from typing import Any

from penstock.analysis.timeline import Timeline, fitting_width_ms

COLUMNS_MAX = 60


def heat_map(timelines: Mapping[int, Timeline]) -> dict[str, Any] | None:
    """Counts by partition and time; None if no message has a time."""
    ends = [(each.earliest_ms, each.latest_ms) for each in timelines.values()]
    earliest = min((first for first, _ in ends if first is not None), default=None)
    latest = max((last for _, last in ends if last is not None), default=None)
    if earliest is None or latest is None:
        return None
    width_ms = fitting_width_ms(earliest, latest, count_max=COLUMNS_MAX)
    # What was counted in wider stretches cannot be told in narrower ones.
    width_ms = max(width_ms, *(timeline.width_ms for timeline in timelines.values()))
    first = earliest // width_ms
    count = latest // width_ms - first + 1
    return {
        "start_ms": first * width_ms,
        "bucket_ms": width_ms,
        "columns": count,
        "rows": [
            {"partition": number, "counts": _row(timeline, width_ms, first, count)}
            for number, timeline in sorted(timelines.items())
        ],
    }


def _row(timeline: Timeline, width_ms: int, first: int, count: int) -> list[int]:
    row = [0] * count
    for start_ms, messages in timeline.buckets()[1]:
        row[min(max(start_ms // width_ms - first, 0), count - 1)] += messages
    return row
