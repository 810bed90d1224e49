"""The future of one record.

A producer makes one per record, so it must cost next to nothing: it has slots in place of attributes, a
condition only if somebody waits, and is itself what librdkafka calls when the record's fate is known.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures._base import FINISHED, RUNNING
from typing import TYPE_CHECKING, Any, Protocol

from penstock.client.error_mapping import delivery_error_from
from penstock.client.errors import DeliveryError, RequestTimedOut
from penstock.client.producing.record import RecordMetadata
from penstock.client.trouble import Trouble

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_CREATION = threading.Lock()

Place = tuple[int, int | None, int]
"""Partition, offset and time."""

Outcome = Place | DeliveryError


class Attendant(Protocol):
    """Whoever sees to it that deliveries end."""

    failed_count: int
    trouble: Trouble
    callbacks_due: "deque[Delivery]"
    """Those whose callbacks are to be called when librdkafka's own call has returned."""

    def attention(self) -> "AbstractContextManager[None]":
        """Hurry while somebody waits inside."""

    def is_calling_back(self) -> bool:
        """Whether whoever asks is called back just now."""

    def fetch_until(self, is_done: Callable[[], bool], seconds: float | None) -> None:
        """Have librdkafka settle what ends, here and now, until that is so or for so long."""


def metadata_of(topic: str, place: Place) -> RecordMetadata:
    """As callers know it; librdkafka has None for an offset that nobody knows."""
    partition, offset, timestamp_ms = place
    return RecordMetadata(topic, partition, -1 if offset is None else offset, timestamp_ms)


class Delivery(Future[RecordMetadata]):
    """A future that ends with a ``RecordMetadata`` or a ``DeliveryError``; it cannot be cancelled.

    Whoever waits makes the condition and then looks at the outcome; whoever settles it sets the outcome and
    then looks for a condition. So one of them sees the other, without a lock where nobody waits.
    """

    __slots__ = ("_attendant", "_late", "_outcome", "topic")

    topic: str
    _attendant: Attendant
    _outcome: Outcome | None
    _late: threading.Condition | None

    if TYPE_CHECKING:

        def __init__(self) -> None: ...

    else:
        __init__ = object.__init__

    def __call__(self, error: Any, message: Any) -> None:
        """Settle it; librdkafka calls this once, in whichever thread polls."""
        outcome: Outcome
        if error is None:
            outcome = (message.partition(), message.offset(), message.timestamp()[1])
        else:
            outcome = self._failure(error, message)
        if self._late is None:
            self._outcome = outcome
        if self._late is not None:
            self._tell(outcome)

    def done(self) -> bool:
        """Whether its fate is known."""
        return self._outcome is not None

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Where the record is, once it is acknowledged; ``delivery_timeout_ms`` bounds the wait anyhow."""
        outcome = self._outcome or self._awaited(timeout)
        if isinstance(outcome, DeliveryError):
            raise outcome
        return metadata_of(self.topic, outcome)

    def exception(self, timeout: float | None = None) -> DeliveryError | None:
        """Why it was not acknowledged; None if it was."""
        outcome = self._outcome or self._awaited(timeout)
        return outcome if isinstance(outcome, DeliveryError) else None

    def __repr__(self) -> str:
        return f"<Delivery to {self.topic}: {self._outcome or 'not acknowledged yet'}>"

    @property
    def _state(self) -> str:  # type: ignore[override]
        """As the base class calls it."""
        return RUNNING if self._outcome is None else FINISHED

    @property
    def _condition(self) -> threading.Condition:  # type: ignore[override]
        """What the base class waits on; made by the first who asks, with all that belongs to it."""
        if self._late is None:
            with _CREATION:
                if self._late is None:
                    self._waiters: list[Any] = []
                    self._done_callbacks: list[Any] = []
                    self._late = threading.Condition()
        return self._late

    def _awaited(self, timeout: float | None) -> Outcome:
        condition = self._condition
        if self._attendant.is_calling_back():
            # This thread may be the one that others leave fetching to.
            self._attendant.fetch_until(self.done, timeout)
        else:
            with self._attendant.attention(), condition:
                condition.wait_for(self.done, timeout)
        if self._outcome is None:
            raise RequestTimedOut(
                f"A record for {self.topic} is not acknowledged after {timeout:g} s, and may still be",
                code="REQUEST_TIMED_OUT",
                is_retriable=True,
            )
        return self._outcome

    def _failure(self, error: Any, message: Any) -> DeliveryError:
        partition = message.partition()
        self._attendant.failed_count += 1
        reason = self._attendant.trouble.reason_for(error)
        return delivery_error_from(reason, topic=self.topic, partition=-1 if partition is None else partition)

    def _tell(self, outcome: Outcome) -> None:
        """Wake those who wait, and have those called who asked for it.

        Not here: inside this call librdkafka's binding bears no other one, such as for sending or flushing.
        """
        with self._condition:
            self._outcome = outcome
            for waiter in self._waiters:
                tell = waiter.add_exception if isinstance(outcome, DeliveryError) else waiter.add_result
                tell(self)
            self._condition.notify_all()
        self._attendant.callbacks_due.append(self)

    def call_back(self) -> None:
        """Call those who asked to be called."""
        self._invoke_callbacks()  # type: ignore[attr-defined]
