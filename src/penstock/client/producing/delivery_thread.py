"""The thread that fetches acknowledgements from librdkafka when the sender does not.

librdkafka's binding takes the interpreter's lock for every single acknowledgement. A sender that is busy
would have to give it up as often, so busy senders fetch acknowledgements themselves, between records, and
this thread only looks whether they do. It works in earnest as soon as somebody waits, and sleeps when nothing
is on its way.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaException

from penstock.client.error_mapping import raise_interrupt
from penstock.client.trouble import Trouble, logger

EAGER_SECONDS = 0.01
"""How long one look may take while somebody waits; acknowledgements end it early."""

LAZY_SECONDS = 0.005
"""How often to see whether the sender still fetches."""

IDLE_SECONDS = 0.5
"""How often to fetch statistics and troubles when nothing is on its way."""

STOP_SECONDS_MAX = 5.0


class DeliveryThread:
    """Polls one producer until it is stopped."""

    def __init__(self, producer: Any, name: str, trouble: Trouble) -> None:
        self._producer = producer
        self.trouble = trouble
        self._wake = threading.Event()
        self._waiters_lock = threading.Lock()
        self._waiters = 0
        self._is_stopping = False
        self.callbacks_due: deque[Any] = deque()
        """Deliveries that have ended and call somebody back."""
        self._calls = threading.Lock()
        """Held while that is done."""
        self._calling: threading.Thread | None = None
        """The thread that does it."""
        self.failed_count = 0
        """Records that were not acknowledged."""
        self.is_asleep = False
        """Whether a sender has to call ``wake``."""
        self.sender_has_polled = False
        """Set by senders whenever they fetch acknowledgements themselves."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @contextmanager
    def attention(self) -> Iterator[None]:
        """Work in earnest while somebody waits inside."""
        with self._waiters_lock:
            self._waiters += 1
        self._wake.set()
        try:
            yield
        finally:
            with self._waiters_lock:
                self._waiters -= 1

    def wake(self) -> None:
        """There is something on its way."""
        self._wake.set()

    def stop(self) -> None:
        """End the thread, unless it is the one that asks."""
        self._is_stopping = True
        self._wake.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(STOP_SECONDS_MAX)

    def _run(self) -> None:
        while not self._is_stopping:
            try:
                self._work()
            except Exception:
                logger.exception("a callback of a producer failed")

    def fetch(self, seconds: float) -> None:
        """Have librdkafka settle what has ended; it also raises here what ends the producer itself."""
        try:
            self._producer.poll(seconds)
        except KafkaException as error:
            self.trouble.note(error.args[0])
        except SystemError as error:
            raise_interrupt(error)
            raise
        if self.callbacks_due:
            self.call_back()

    def call_back(self) -> None:
        """Call those who asked for it, in order; for whoever has called librdkafka, when that has returned.

        If a callback or another thread is at it already, that one goes on with what has come since.
        """
        while self.callbacks_due and self._calls.acquire(blocking=False):
            self._calling = threading.current_thread()
            try:
                while self.callbacks_due:
                    self.callbacks_due.popleft().call_back()
            finally:
                self._calling = None
                self._calls.release()

    def is_calling_back(self) -> bool:
        """Whether this thread is inside a callback."""
        return self._calling is threading.current_thread()

    def fetch_until(self, is_done: Callable[[], bool], seconds: float | None) -> None:
        """Fetch until that is so, or for so long."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while not is_done() and time.monotonic() < deadline:
            self.fetch(EAGER_SECONDS)

    def wait_called_back(self, seconds: float) -> None:
        """Return when all have been called of whose records the fate is known, unless a callback asks."""
        deadline = time.monotonic() + seconds
        self.call_back()
        while not self.is_calling_back() and self._calls.acquire(timeout=_seconds_until(deadline)):
            self._calls.release()
            if not self.callbacks_due:
                return
            self.call_back()  # What came just when the other one was about to let go.

    def _work(self) -> None:
        if not self._has_work():
            self._sleep()
        elif self._is_wanted():
            self._poll(EAGER_SECONDS)
        else:
            self._wake.wait(LAZY_SECONDS)
            self._wake.clear()
            if not self.sender_has_polled:
                self._poll(0)
            self.sender_has_polled = False

    def _has_work(self) -> bool:
        return len(self._producer) > 0

    def _is_wanted(self) -> bool:
        return self._waiters > 0

    def _poll(self, seconds: float) -> None:
        self.fetch(seconds)

    def _sleep(self) -> None:
        """Until there is something to do; senders look at ``is_asleep`` after they have sent."""
        self.is_asleep = True
        if not self._has_work():
            self._wake.wait(IDLE_SECONDS)
        self.is_asleep = False
        self._wake.clear()
        self._poll(0)


def _seconds_until(deadline: float) -> float:
    return min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
