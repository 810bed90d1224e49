"""When rows that do not stream are read anew: in every micro-batch, once, or now and then.

Rows that are not cached are read by the tasks of every micro-batch (see ``live_topics``). What is cached
stays until its time has come; then the cache is emptied, and the next micro-batch that needs the rows fills
it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.spark.pipelines.durations import duration_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVERY_BATCH = "batch"
AT_START = "start"


@dataclass(slots=True)
class _Kept:
    rows: "DataFrame"
    interval_ms: int
    due_ms: int


class Refreshing:
    """The rows that a pipeline keeps for a time; the runner says what time it is."""

    def __init__(self, *, now_ms: int) -> None:
        self._now_ms = now_ms
        self._kept: list[_Kept] = []
        self._cached: list[DataFrame] = []

    def refreshed(self, rows: "DataFrame", refresh: str) -> "DataFrame":
        """The same rows, kept as long as ``refresh`` says."""
        if refresh == EVERY_BATCH:
            return rows
        cached = _marked(rows, len(self._cached)).persist()
        self._cached.append(cached)
        if refresh != AT_START:
            interval_ms = duration_ms(refresh) or 0
            self._kept.append(_Kept(cached, interval_ms, self._now_ms + interval_ms))
        return cached

    def empty_due(self, now_ms: int) -> None:
        """Forget what is too old."""
        self._now_ms = now_ms
        for kept in self._kept:
            if now_ms >= kept.due_ms:
                kept.rows.unpersist()
                kept.rows.persist()
                kept.due_ms = now_ms + kept.interval_ms

    def close(self) -> None:
        """Forget everything."""
        for rows in self._cached:
            rows.unpersist()


def _marked(rows: "DataFrame", number: int) -> "DataFrame":
    """The same rows by another plan: Spark takes cached rows for every plan that is equal."""
    from pyspark.sql import functions as F

    return rows.where(F.lit(f"kept {number}") == F.lit(f"kept {number}"))
