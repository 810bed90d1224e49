"""What a producer has done so far, in numbers."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long something took, in milliseconds, over the last interval of statistics."""

    average_ms: float = 0.0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    max_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerMetrics:
    """A snapshot. Counts of records are exact; the rest is as old as ``statistics_age_ms`` says."""

    records_sent: int
    """Records that ``send`` has taken."""
    bytes_sent: int
    """Bytes of their keys and values."""
    records_acknowledged: int
    records_failed: int
    records_waiting: int
    """Records whose fate is not known yet."""
    batches_sent: int
    """Produce requests, retries included."""
    batch_size_average_bytes: float
    batch_size_max_bytes: int
    records_per_batch_average: float
    request_latency: Latency
    """From a request's sending to its answer."""
    queue_latency: Latency
    """From ``send`` to a request's sending."""
    statistics_age_ms: float | None
    """None while there are no statistics yet."""


class Statistics:
    """The newest statistics of librdkafka in which something was sent."""

    def __init__(self) -> None:
        self._newest: Mapping[str, Any] = {}
        self._busy: Mapping[str, Any] = {}
        self._came: float | None = None

    def settings(self) -> dict[str, Any]:
        """What makes librdkafka tell us."""
        return {"stats_cb": self.note}

    def note(self, text: str) -> None:
        """Called by librdkafka, in whichever thread polls."""
        self._newest = json.loads(text)
        self._came = time.monotonic()
        if any(topic["batchcnt"]["cnt"] for topic in self._newest["topics"].values()):
            self._busy = self._newest

    def metrics(self, *, sent: int, sent_bytes: int, failed: int, waiting: int) -> ProducerMetrics:
        """Together with what the producer has counted itself."""
        sizes = [topic["batchsize"] for topic in self._busy.get("topics", {}).values()]
        counts = [topic["batchcnt"] for topic in self._busy.get("topics", {}).values()]
        brokers = list(self._newest.get("brokers", {}).values())
        busy_brokers = list(self._busy.get("brokers", {}).values())
        return ProducerMetrics(
            records_sent=sent,
            bytes_sent=sent_bytes,
            records_acknowledged=max(0, sent - failed - waiting),
            records_failed=failed,
            records_waiting=waiting,
            batches_sent=sum(broker.get("req", {}).get("Produce", 0) for broker in brokers),
            batch_size_average_bytes=_average(sizes),
            batch_size_max_bytes=max((window["max"] for window in sizes), default=0),
            records_per_batch_average=_average(counts),
            request_latency=_latency([broker["rtt"] for broker in busy_brokers]),
            queue_latency=_latency([broker["int_latency"] for broker in busy_brokers]),
            statistics_age_ms=None if self._came is None else (time.monotonic() - self._came) * 1000,
        )


def _average(windows: list[Mapping[str, int]]) -> float:
    count = sum(window["cnt"] for window in windows)
    return sum(window["sum"] for window in windows) / count if count else 0.0


def _latency(windows: list[Mapping[str, int]]) -> Latency:
    """Of several brokers together; percentiles are those of the slowest. librdkafka counts microseconds."""
    full = [window for window in windows if window["cnt"]]
    if not full:
        return Latency()
    return Latency(
        average_ms=_average(full) / 1000,
        p50_ms=max(window["p50"] for window in full) / 1000,
        p99_ms=max(window["p99"] for window in full) / 1000,
        max_ms=max(window["max"] for window in full) / 1000,
    )
