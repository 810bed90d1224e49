"""The future of one record in a loop, and the thread that brings it its end.

Acknowledgements are collected while the thread polls, and the loop is woken once for all of them.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from penstock.client.error_mapping import delivery_error_from
from penstock.client.errors import PenstockClientError
from penstock.client.producing.delivery import Place, metadata_of
from penstock.client.producing.delivery_thread import DeliveryThread
from penstock.client.producing.record import RecordMetadata
from penstock.client.trouble import Trouble, logger


class AsyncDelivery(asyncio.Future[RecordMetadata]):
    """A future that ends with a ``RecordMetadata`` or a ``DeliveryError``.

    Cancelling it only means that nobody waits any more: the record is sent all the same.
    """

    __slots__ = ("_bridge", "_outcome", "topic")

    topic: str
    _bridge: "Bridge"
    _outcome: Place | PenstockClientError

    def __call__(self, error: Any, message: Any) -> None:
        """Note how it ended; librdkafka calls this once, in whichever thread polls."""
        if error is None:
            self._outcome = (message.partition(), message.offset(), message.timestamp()[1])
        else:
            partition = message.partition()
            self._outcome = delivery_error_from(
                self._bridge.trouble.reason_for(error),
                topic=self.topic,
                partition=-1 if partition is None else partition,
            )
            self._bridge.failed_count += 1
        self._bridge.settled.append(self)

    def settle(self) -> None:
        """End it, in the loop's thread."""
        if self.done():
            return
        outcome = self._outcome
        if isinstance(outcome, tuple):
            self.set_result(metadata_of(self.topic, outcome))
        else:
            self.set_exception(outcome)


class Bridge(DeliveryThread):
    """Between librdkafka and one loop."""

    def __init__(
        self,
        producer: Any,
        name: str,
        trouble: Trouble,
        loop: asyncio.AbstractEventLoop,
        retry_waiting: Callable[[], bool],
    ) -> None:
        self.settled: deque[AsyncDelivery] = deque()
        """Those that have ended and do not know yet."""
        self.loop_is_idle = True
        """Whether the loop has come round since the last record, so that the thread does not disturb it."""
        self._loop = loop
        self._retry_waiting = retry_waiting
        self._is_scheduled = False
        super().__init__(producer, name, trouble)

    def hand_over(self) -> None:
        """Have the loop end all that have ended; one wake-up, however many there are."""
        if not self.settled or self._is_scheduled:
            return
        self._is_scheduled = True
        self.tell_loop(self.settle_all)

    def tell_loop(self, function: Callable[[], object]) -> None:
        """Have the loop call it, if there is still a loop."""
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            logger.debug("the loop was closed before all records had ended")
            self._is_stopping = True

    def settle_all(self) -> None:
        """In the loop's thread."""
        self._is_scheduled = False
        settled = self.settled
        while settled:
            settled.popleft().settle()

    def _is_wanted(self) -> bool:
        return self.loop_is_idle or super()._is_wanted()

    def _has_work(self) -> bool:
        return self._retry_waiting() or super()._has_work()

    def _poll(self, seconds: float) -> None:
        super()._poll(seconds)
        self.hand_over()
