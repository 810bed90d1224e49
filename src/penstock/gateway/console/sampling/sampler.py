"""Looks at the cluster every few seconds, so that the console can show rates and plots.

A plain client in one thread: a cluster that does not answer is a gap in the plots and a sentence in
``problem``, and is asked again. What it costs is a handful of requests to each broker every few seconds.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping

from penstock.gateway.console.sampling.history import History
from penstock.gateway.console.sampling.sample import Sample, is_internal, rates, take_sample
from penstock.gateway.kafka.access import KafkaAccess
from penstock.model.errors import PenstockError
from penstock.model.ids import TopicPartition

INTERVAL_SECONDS = 5.0
STOP_SECONDS_MAX = 20.0

TOTAL = "total"
Points = list[tuple[int, float | None]]


class Sampler:
    """Histories of one cluster; ``start`` and ``stop`` it."""

    def __init__(
        self,
        kafka: KafkaAccess,
        *,
        closing: threading.Event,
        interval_seconds: float = INTERVAL_SECONDS,
    ) -> None:
        self._kafka = kafka
        self._closing = closing
        self.interval_seconds = interval_seconds
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._messages, self._sizes, self._lags, self._totals = History(), History(), History(), History()
        self._newest: Sample | None = None
        self._rates: Mapping[TopicPartition, float] = {}
        self.problem: str | None = None
        """Why the last look failed; None when it did not."""

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._run, name="penstock-console-sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End, after the look that is under way."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS_MAX)

    @property
    def newest(self) -> Sample | None:
        """What was seen last, None before the first look."""
        with self._lock:
            return self._newest

    def topic_rates(self) -> dict[str, float]:
        """Records a second that each topic takes at present."""
        sums: dict[str, float] = defaultdict(float)
        for where, rate in self.partition_rates().items():
            sums[where.topic] += rate
        return dict(sums)

    def partition_rates(self) -> Mapping[TopicPartition, float]:
        """Records a second that each partition takes at present."""
        with self._lock:
            return self._rates

    def messages(self, topic: str | None = None) -> Points:
        """Records a second over time, of one topic or of all together but for internal ones."""
        with self._lock:
            return self._totals.series(TOTAL) if topic is None else self._messages.series(topic)

    def sizes(self, topic: str | None = None) -> Points:
        """Bytes over time, of one topic or of all together; one replica of each partition counts."""
        with self._lock:
            return self._sizes.series(TOTAL if topic is None else f"topic:{topic}")

    def lag(self, group: str) -> Points:
        """Records to go over time."""
        with self._lock:
            return self._lags.series(group)

    def look(self, now_ms: int) -> None:
        """Take one sample and note it."""
        with self._kafka.cluster() as cluster:
            self._note(take_sample(cluster, now_ms=now_ms))

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self.look(int(time.time() * 1000))
                self.problem = None
            except PenstockError as error:
                self.problem = str(error)
                self._note_gap(int(time.time() * 1000))
            self._closing.wait(self.interval_seconds)

    def _note(self, sample: Sample) -> None:
        with self._lock:
            before, self._newest = self._newest, sample
            if before is not None:
                self._rates = rates(before, sample)
            by_topic: dict[str, float] = defaultdict(float)
            for where, rate in self._rates.items():
                by_topic[where.topic] += rate
            self._messages.add(sample.time_ms, by_topic)
            total = sum(rate for topic, rate in by_topic.items() if not is_internal(topic))
            self._totals.add(sample.time_ms, {TOTAL: None if before is None else total})
            sizes = sample.topic_sizes()
            named = {TOTAL: sum(sizes.values())} | {f"topic:{topic}": size for topic, size in sizes.items()}
            self._sizes.add(sample.time_ms, named if sizes else {})
            self._lags.add(sample.time_ms, sample.lags())

    def _note_gap(self, now_ms: int) -> None:
        with self._lock:
            self._rates = {}
            for history in (self._messages, self._totals, self._sizes, self._lags):
                history.add(now_ms, {})
