"""The last word on every flow of every pipeline, and how its rates and lag have gone.

Flows write JSON to a compacted topic, at most once a second each. A board reads on from where it was, for a
short while at a time: the first look at a long topic may need several, and says so.
"""

import threading
import time
from collections import deque
from typing import Any

from penstock.gateway.console.messages.reading import Reading
from penstock.gateway.console.messages.topic_ranges import topic_ranges
from penstock.gateway.errors import GatewayError
from penstock.model.flow_states import flow_state, heard_state
from penstock.model.names import PIPELINES_TOPIC
from penstock.records.record import Record
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.fetching import FetchLimits, OffsetRange

POINTS_MAX = 240
FLOWS_MAX = 1_000
READ_SECONDS_MAX = 2.0


class PipelineBoard:
    """What is known; any thread may ask, one at a time reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._positions: dict[int, int] = {}
        self._flows: dict[str, dict[str, Any]] = {}
        self._points: dict[str, deque[list[float | None]]] = {}

    def read_on(self, cluster: Cluster) -> bool:
        """Take in what is new; whether that was all."""
        with self._lock:
            try:
                ranges = topic_ranges(cluster, PIPELINES_TOPIC)
            except GatewayError as error:
                if error.status != 404:
                    raise
                self._forget()
                return True
            if any(self._positions.get(number, 0) > each.end for number, each in ranges.items()):
                self._forget()  # It is another topic by now.
            windows = {
                number: OffsetRange(max(self._positions.get(number, 0), each.start), each.end)
                for number, each in ranges.items()
            }
            return self._take(
                Reading(
                    cluster=cluster,
                    topic=PIPELINES_TOPIC,
                    windows=windows,
                    limits=FetchLimits(is_read_committed=True),
                )
            )

    def flows(self, *, now_ms: int) -> list[dict[str, Any]]:
        """Every flow in the order of names, with its state as it is to be understood by now."""
        with self._lock:
            return [
                {
                    **state,
                    "state": heard_state(state, now_ms=now_ms),
                    "points": list(self._points.get(key, ())),
                }
                for key, state in sorted(self._flows.items())
            ]

    def _take(self, reading: Reading) -> bool:
        deadline = time.monotonic() + READ_SECONDS_MAX
        for answer in reading.answers():
            for number, record in answer.found:
                self._note(record)
                self._positions[number] = record.offset + 1
            if time.monotonic() > deadline:
                return False
        self._positions |= {number: window.end for number, window in reading.windows.items()}
        return True

    def _note(self, record: Record) -> None:
        if record.key is None:
            return
        key = record.key.decode("utf-8", "replace")
        if record.value is None:
            self._flows.pop(key, None)
            self._points.pop(key, None)
            return
        state = flow_state(record.value)
        if state is None or (key not in self._flows and len(self._flows) >= FLOWS_MAX):
            return
        self._flows[key] = state
        progress = state.get("progress")
        if isinstance(progress, dict):
            points = self._points.setdefault(key, deque(maxlen=POINTS_MAX))
            points.append([state["at_ms"], *(_number(progress.get(name)) for name in _PLOTTED)])

    def _forget(self) -> None:
        self._positions.clear()
        self._flows.clear()
        self._points.clear()


_PLOTTED = ("rows_per_second", "input_rows_per_second", "lag")


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None
