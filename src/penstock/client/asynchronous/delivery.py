"""The future of one record in a loop, and the thread that brings it its end.

A producer makes one per record, and hardly anybody waits for a single one: so it is no ``asyncio.Future``,
which the loop would have to end one by one, but something that behaves like it. Its outcome is there as soon
as librdkafka tells it, in whichever thread that is; only where somebody waits the loop is woken, once for all
of them.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Generator
from typing import Any
from weakref import WeakMethod

from penstock.client.error_mapping import delivery_error_from
from penstock.client.errors import PenstockClientError
from penstock.client.producing.delivery import Place, metadata_of
from penstock.client.producing.delivery_thread import DeliveryThread
from penstock.client.producing.record import RecordMetadata
from penstock.client.trouble import Trouble, logger

Callback = Callable[["AsyncDelivery"], object]


class AsyncDelivery:
    """A future that ends with a ``RecordMetadata`` or a ``DeliveryError``; await it now, later or never.

    Cancelling it only means that nobody waits any more: the record is sent all the same.

    Whoever waits leaves a callback and then looks at the outcome; whoever knows the outcome sets it and then
    looks for callbacks. So one of them sees the other, without a lock.
    """

    __slots__ = (
        *("_asyncio_future_blocking", "_bridge", "_callbacks", "_cancellation"),
        *("_outcome", "_unheard", "topic"),
    )

    topic: str
    _bridge: "Bridge"
    _outcome: Place | PenstockClientError | None
    _cancellation: asyncio.CancelledError | None
    """Apart from the outcome, which may come from another thread at the same moment."""
    _callbacks: list[tuple[Callback, contextvars.Context]] | None
    _asyncio_future_blocking: bool
    """By this name a loop knows that it can be waited for, and that somebody is about to."""
    _unheard: "Unheard | None"

    def __init__(self, topic: str, bridge: "Bridge") -> None:
        self.topic = topic
        self._bridge = bridge
        self._outcome = self._callbacks = self._cancellation = self._unheard = None
        self._asyncio_future_blocking = False

    def __call__(self, error: Any, message: Any) -> None:
        """Note how it ended; librdkafka calls this once, in whichever thread polls."""
        if error is None:
            self._outcome = (message.partition(), message.offset(), message.timestamp()[1])
        else:
            partition = message.partition()
            self.fail(
                delivery_error_from(
                    self._bridge.trouble.reason_for(error),
                    topic=self.topic,
                    partition=-1 if partition is None else partition,
                )
            )
        if self._callbacks is not None:
            self._bridge.settled.append(self)

    def fail(self, error: PenstockClientError) -> None:
        """The record was not acknowledged."""
        self._bridge.failed_count += 1
        if self._cancellation is None:
            self._unheard = Unheard(error)
        self._outcome = error

    def done(self) -> bool:
        """Whether its fate is known, or nobody wants to know it any more."""
        return self._outcome is not None or self._cancellation is not None

    def cancelled(self) -> bool:
        """Whether nobody wants to know it any more."""
        return self._cancellation is not None

    def result(self) -> RecordMetadata:
        """Where the record is; raises why it was not acknowledged, or that its fate is not known yet."""
        outcome = self._known()
        if isinstance(outcome, PenstockClientError):
            raise outcome
        return metadata_of(self.topic, outcome)

    def exception(self) -> PenstockClientError | None:
        """Why it was not acknowledged; None if it was."""
        outcome = self._known()
        return outcome if isinstance(outcome, PenstockClientError) else None

    def cancel(self, msg: object = None) -> bool:
        """Let nobody wait any more; False when its fate is known already."""
        if self.done():
            return False
        self._cancellation = asyncio.CancelledError() if msg is None else asyncio.CancelledError(msg)
        self.tell()
        return True

    def add_done_callback(self, callback: Callback, *, context: contextvars.Context | None = None) -> None:
        """Have the loop call it with this future when the record's fate is known."""
        entry = (callback, contextvars.copy_context() if context is None else context)
        if self._callbacks is None:
            self._callbacks = [entry]
        else:
            self._callbacks.append(entry)
        if self.done():
            self.tell()

    def remove_done_callback(self, callback: Callback) -> int:
        """Do not call it after all; how many times it would have been."""
        before = self._callbacks or []
        left = [entry for entry in before if entry[0] != callback]
        if before:
            self._callbacks = left
        return len(before) - len(left)

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop in which it can be awaited."""
        return self._bridge.loop

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        if not self.done():
            self._asyncio_future_blocking = True
            yield self
        return self.result()

    __iter__ = __await__  # as futures have it

    def __repr__(self) -> str:
        return f"<AsyncDelivery to {self.topic}: {self._outcome or 'not acknowledged yet'}>"

    def tell(self) -> None:
        """Have everybody who waits called; in the loop's thread."""
        callbacks = self._callbacks
        if callbacks:
            self._callbacks = []
            for callback, context in callbacks:
                self._bridge.loop.call_soon(callback, self, context=context)

    def _known(self) -> Place | PenstockClientError:
        if self._cancellation is not None:
            raise self._cancellation
        if self._outcome is None:
            raise asyncio.InvalidStateError(f"The fate of a record for {self.topic} is not known yet")
        if self._unheard is not None:
            self._unheard.error = None
        return self._outcome


class Unheard:
    """Says so when a record failed and nobody ever asked."""

    __slots__ = ("error",)

    def __init__(self, error: PenstockClientError) -> None:
        self.error: PenstockClientError | None = error

    def __del__(self) -> None:
        if self.error is not None:
            logger.error("a record was not acknowledged, and nobody asked: %s", self.error)


class Bridge(DeliveryThread):
    """Between librdkafka and one loop."""

    loop: asyncio.AbstractEventLoop
    """That in which the first record is sent; there is nothing to tell it before."""

    def __init__(
        self, producer: Any, name: str, trouble: Trouble, retry_waiting: "WeakMethod[Callable[[], bool]]"
    ) -> None:
        self.settled: deque[AsyncDelivery] = deque()
        """Those that have ended while somebody waits."""
        self.loop_is_idle = True
        """Whether the loop has come round since the last record, so that the thread does not disturb it."""
        self.retry_waiting = retry_waiting
        """Gives librdkafka what waits for room; whether some still waits. Ends with its producer."""
        self._is_scheduled = False
        super().__init__(producer, name, trouble)

    def hand_over(self) -> None:
        """Have the loop tell those who wait; one wake-up, however many there are."""
        if not self.settled or self._is_scheduled:
            return
        self._is_scheduled = True
        self.tell_loop(self.settle_all)

    def tell_loop(self, function: Callable[[], object]) -> None:
        """Have the loop call it, if there is still a loop."""
        try:
            self.loop.call_soon_threadsafe(function)
        except RuntimeError:
            logger.debug("the loop was closed before all records had ended")
            self._is_stopping = True

    def settle_all(self) -> None:
        """In the loop's thread."""
        self._is_scheduled = False
        settled = self.settled
        while settled:
            settled.popleft().tell()

    def _is_wanted(self) -> bool:
        return self.loop_is_idle or super()._is_wanted()

    def _has_work(self) -> bool:
        retry_waiting = self.retry_waiting()  # Of a producer that is forgotten there is nothing to retry.
        return (retry_waiting is not None and retry_waiting()) or super()._has_work()

    def _poll(self, seconds: float) -> None:
        super()._poll(seconds)
        self.hand_over()
