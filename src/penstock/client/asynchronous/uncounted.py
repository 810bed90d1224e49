"""Records whose partition cannot be chosen yet: nobody knows how many their topic has.

They wait topic by topic, each in order, so that a topic that does not exist holds up no other. A thread asks
for one topic after the other, and ends when there is none to ask for. The thread that gives records to
librdkafka takes out what need not wait any more.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.client.asynchronous.delivery import AsyncDelivery
from penstock.client.backoff import Backoff
from penstock.client.config.producer_config import ProducerConfig
from penstock.client.error_mapping import exception_from
from penstock.client.errors import PenstockClientError, RequestTimedOut
from penstock.client.producing.partition_counts import PartitionCounts
from penstock.client.producing.record import Record

ASK_SECONDS_MAX = 4.0
"""So long one topic is asked for before the others get their turn; less than closing waits for the thread."""

STOP_SECONDS_MAX = 5.0


class Waiting(NamedTuple):
    """A record that librdkafka cannot be given yet, and until when it waits."""

    record: Record
    delivery: AsyncDelivery
    until: float


@dataclass(slots=True, eq=False)
class Asked:
    """A topic that is asked for."""

    name: str
    waiting: deque[Waiting] = field(default_factory=deque)
    """Never none, but in the moment before it is forgotten."""
    is_known: bool = False
    attempts: int = 0
    due: float = 0.0
    """When to ask next."""
    error: PenstockClientError | None = None
    """Why the last attempt failed."""

    @property
    def is_hopeless(self) -> bool:
        """Whether asking again would not help."""
        return self.error is not None and not self.error.is_retriable

    def take_late(self, now: float) -> Iterator[tuple[AsyncDelivery, PenstockClientError]]:
        """Those who have waited long enough, or all if that is hopeless, and why they are not sent."""
        text = f"Nobody has told in time how many partitions {self.name} has"
        error = self.error or RequestTimedOut(text, code="REQUEST_TIMED_OUT", is_retriable=True)
        while self.waiting and (self.is_hopeless or self.waiting[0].until <= now):
            yield self.waiting.popleft().delivery, error


class Uncounted:
    """All that waits so; the loop adds, one thread asks, another takes out."""

    def __init__(
        self, counts: PartitionCounts, config: ProducerConfig, have_taken_out: Callable[[], object]
    ) -> None:
        self._counts = counts
        self._backoff = Backoff(first_ms=config.retry_backoff_ms, most_ms=config.retry_backoff_max_ms)
        self._name = f"penstock-producer-partitions-{config.client_id}"
        self._have_taken_out = have_taken_out
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._topics: dict[str, Asked] = {}
        self._thread: threading.Thread | None = None
        self._is_stopping = False

    def __contains__(self, topic: str) -> bool:
        return topic in self._topics

    def __len__(self) -> int:
        """How many records wait."""
        if not self._topics:
            return 0
        with self._lock:
            return sum(len(asked.waiting) for asked in self._topics.values())

    def add(self, waiting: Waiting) -> None:
        """Let a record wait behind those of its topic."""
        name = waiting.record.topic
        with self._lock:
            self._topics.setdefault(name, Asked(name)).waiting.append(waiting)
            if self._thread is None:
                self._thread = threading.Thread(target=self._ask_all, name=self._name, daemon=True)
                self._thread.start()
        self._news.set()

    def move_known(self, waiting: deque[Waiting]) -> None:
        """Let those whose topic is known now wait there for room."""
        with self._lock:
            for asked in [each for each in self._topics.values() if each.is_known]:
                # In this order: whoever finds its topic gone must find these before it.
                waiting.extend(asked.waiting)
                del self._topics[asked.name]

    def take_late(self, now: float) -> list[tuple[AsyncDelivery, PenstockClientError]]:
        """Those who must not wait any longer, and why they are not sent."""
        with self._lock:
            late = [each for asked in self._topics.values() for each in asked.take_late(now)]
            self._topics = {name: asked for name, asked in self._topics.items() if asked.waiting}
        return late

    def stop(self) -> None:
        """Ask no more."""
        self._is_stopping = True
        self._news.set()
        if (thread := self._thread) is not None:
            thread.join(STOP_SECONDS_MAX)

    def _ask_all(self) -> None:
        while (asked := self._next()) is not None:
            pause = asked.due - time.monotonic()
            if pause > 0:
                self._news.wait(pause)  # What is added meanwhile may be asked for at once.
                self._news.clear()
            else:
                self._ask(asked)
                self._have_taken_out()

    def _next(self) -> Asked | None:
        """Who is to be asked for first; None, for which the thread ends, if there is nobody."""
        with self._lock:
            unknown = [each for each in self._topics.values() if not (each.is_known or each.is_hopeless)]
            if unknown and not self._is_stopping:
                return min(unknown, key=lambda each: each.due)
            self._thread = None
            return None

    def _ask(self, asked: Asked) -> None:
        try:
            if self._counts.known(asked.name) is None:
                self._counts.ask(asked.name, ASK_SECONDS_MAX)
            asked.is_known = True
        except Exception as error:
            asked.error = exception_from(error, doing=f"find the partitions of {asked.name}")
            asked.due = time.monotonic() + self._backoff.seconds(asked.attempts)
            asked.attempts += 1
