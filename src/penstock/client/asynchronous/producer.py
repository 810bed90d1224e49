"""The producer for programs with an event loop."""

import asyncio
import math
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from weakref import WeakMethod

from penstock.client.asynchronous.delivery import AsyncDelivery, Bridge
from penstock.client.asynchronous.held_transactions import HeldTransactions
from penstock.client.asynchronous.transaction import AsyncTransaction
from penstock.client.asynchronous.uncounted import Uncounted, Waiting
from penstock.client.asynchronous.worker import Worker
from penstock.client.config.producer_config import ProducerConfig, ProducerSettings
from penstock.client.error_mapping import exception_from
from penstock.client.errors import BufferFull, PenstockClientError, RequestTimedOut
from penstock.client.producing.left_open import EXIT_SECONDS, OPEN
from penstock.client.producing.metrics import ProducerMetrics
from penstock.client.producing.producer import CLOSE_SECONDS
from penstock.client.producing.record import Headers, Record
from penstock.client.producing.record_sender import ANY_PARTITION, POLL_EVERY, RecordSender
from penstock.client.trouble import logger

ROOM_SECONDS = 0.01
DROP_SECONDS_MAX = 5.0

Answer = TypeVar("Answer")


class AsyncProducer(RecordSender):
    """``Producer`` for a loop: ``send`` returns at once, and what it returns can be awaited.

    When the buffer is full, records wait for room in a second one of the same size, up to ``max_block_ms``
    each; ``await drain()`` between sends keeps a fast sender from filling that, too. There they also wait
    for a partitioner that must know how many partitions their topic has; others go on meanwhile.
    """

    def __init__(self, config: ProducerConfig | None = None, **settings: Unpack[ProducerSettings]) -> None:
        super().__init__(ProducerConfig.of(config, settings))
        self._worker = Worker(f"penstock-producer-calls-{self.config.client_id}")
        self._transactions: HeldTransactions | None = None
        self._waiting: deque[Waiting] = deque()
        """For room."""
        self._uncounted = Uncounted(self._counts, self.config, self._wake_bridge)
        self._room = asyncio.Event()
        self._is_sending = False
        self._is_dropping = False
        self.given_up_count = 0
        """Records that were held, and never given to librdkafka."""
        self._is_bound = False
        """Whether the bridge has a loop."""
        self._closing: Future[int] | None = None
        """The worker's last job."""
        name = f"penstock-producer-{self.config.client_id}"
        self._bridge = Bridge(self._raw, name, self._trouble, WeakMethod(self._retry_waiting))
        OPEN.add(self)

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> AsyncDelivery:
        """Send one record; await what it returns for its ``RecordMetadata``, or for why there is none."""
        self._refuse_closed()
        bridge = self._bridge
        if not self._is_bound:
            self._bind()
        delivery = AsyncDelivery(topic, bridge)
        if (
            self._is_plain
            and headers is None
            and timestamp_ms is None
            and type(value) is bytes
            and (key is None or type(key) is bytes)
            and not self._waiting
        ):
            # What nearly all records are goes the shortest way; the other way does the same and more.
            try:
                self._produce(topic, value, key, ANY_PARTITION if partition is None else partition, delivery)
            except BufferError:
                self._wait_for_room(Record(topic, value, key, None, partition, None), delivery)
            except Exception as error:
                raise self._refusal(error, topic) from error
            else:
                self._sent += 1
                self._sent_bytes += len(value) if key is None else len(value) + len(key)
        else:
            record = self._serialized(Record(topic, value, key, headers, partition, timestamp_ms))
            if self._choose is not None and (topic in self._uncounted or self._needs_count(record)):
                self._wait_behind(self._uncounted.add, record, delivery)
            elif self._waiting:
                self._wait_behind(self._waiting.append, record, delivery)
            else:
                self._send_now(record, delivery)
        if not self._is_sending:
            self._is_sending = True
            bridge.loop_is_idle = False
            bridge.loop.call_soon(self._came_round)
        elif not self._sent % POLL_EVERY:
            bridge.sender_has_polled = True
            bridge._poll(0)
        return delivery

    async def send_batch(
        self, records: Iterable[Record | tuple[Any, ...]], timeout: float | None = None
    ) -> list[int]:
        """Send records, or tuples such as ``(topic, value, key)``, and wait: their offsets, in order.

        If some were not acknowledged, the first of their errors is raised when the fate of all is known.
        """
        deliveries = []
        for record in records:
            deliveries.append(self.send(*record))
            if self._held_count:
                await self.drain()
        seconds = self.config.delivery_timeout_ms / 1000 if timeout is None else timeout
        try:
            async with asyncio.timeout(seconds):
                outcomes = await asyncio.gather(*deliveries, return_exceptions=True)
        except TimeoutError as error:
            text = self._trouble.explain(
                f"Not all of {len(deliveries)} records are acknowledged after {seconds:g} s"
            )
            raise RequestTimedOut(text, code="REQUEST_TIMED_OUT", is_retriable=True) from error
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return [delivery.result().offset for delivery in deliveries]

    async def drain(self) -> None:
        """Wait until there is room for more."""
        while self._waiting or self._held_count >= self.config.buffer_records:
            self._room.clear()
            await self._room.wait()

    async def flush(self, timeout: float | None = None) -> None:
        """Send what waits for more at once, and wait until the fate of every record is known."""
        self._refuse_closed()
        seconds = self.config.delivery_timeout_ms / 1000 if timeout is None else timeout
        left = await self._call(partial(self._flush, seconds))
        if left:
            text = self._trouble.explain(f"{left} records are not acknowledged after {seconds:g} s")
            raise RequestTimedOut(text, code="REQUEST_TIMED_OUT", is_retriable=True)

    def transaction(self) -> AsyncTransaction:
        """A transaction for an ``async with`` block: committed at its end, aborted if it raises."""
        self._refuse_closed()
        self._bind()
        if self._transactions is None:
            self._transactions = HeldTransactions(self._raw, self.config, self._bridge, self._trouble, self)
        return AsyncTransaction(self._transactions, self._call, self._worker.submit)

    def metrics(self) -> ProducerMetrics:
        """What it has done so far."""
        return self._metrics(self._bridge.failed_count)

    async def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Wait for what is on its way, then let go of everything; may be called twice.

        Records that are not acknowledged in time fail, so that every future ends.
        """
        if self._is_closed:
            return
        closing = self._begin_to_close(timeout)
        try:
            left = await asyncio.shield(asyncio.wrap_future(closing))
        finally:
            self._bridge.settle_all()
        if left:
            text = self._trouble.explain(
                f"{left} records were not acknowledged within {timeout:g} s of closing"
            )
            raise RequestTimedOut(text, code="REQUEST_TIMED_OUT")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            # Garbage collection has ended these references; the worker keeps us until all is sent.
            self._bridge.retry_waiting = WeakMethod(self._retry_waiting)
            OPEN.add(self)
            self._begin_to_close(EXIT_SECONDS)  # A loop must not wait for it, but the program's end does.
            warnings.warn(f"{self!r} was never closed", ResourceWarning, stacklevel=2)

    def close_at_last(self) -> None:
        """What is not closed when the program ends still sends what it holds, if that is quick."""
        if self._closing is None:
            self._is_closed = True
            self._worker.close()
            left = self._finish(EXIT_SECONDS)
        else:
            left = 0 if wait([self._closing], EXIT_SECONDS).done else len(self._raw) + self._held_count
        if left:
            logger.warning("%d records were not acknowledged when the program ended", left)

    # Inside, in the loop's thread.

    def _bind(self) -> None:
        """To the loop that is first seen running."""
        if not self._is_bound:
            self._bridge.loop = asyncio.get_running_loop()
            self._is_bound = True

    def _begin_to_close(self, seconds: float) -> "Future[int]":
        """In the worker, which goes on though nobody waits; how many records will be left."""
        self._is_closed = True
        self._closing = self._worker.submit(partial(self._finish, seconds))
        self._closing.add_done_callback(lambda _: self._worker.close())
        return self._closing

    def _fetch(self) -> None:
        self._bridge._poll(0)

    def _came_round(self) -> None:
        """The sender has let others run: now the thread may fetch acknowledgements without disturbing it."""
        self._is_sending = False
        self._bridge.loop_is_idle = True
        self._bridge.wake()

    def _send_now(self, record: Record, delivery: AsyncDelivery) -> None:
        try:
            self._enqueue(record, delivery)
        except BufferError:
            self._wait_for_room(record, delivery)
        except PenstockClientError:
            raise
        except Exception as error:
            raise self._refusal(error, record.topic) from error

    def _wait_for_room(self, record: Record, delivery: AsyncDelivery) -> None:
        if not self.config.block_when_full:
            raise self._buffer_full()
        self._wait_behind(self._waiting.append, record, delivery)

    def _wait_behind(self, add: Callable[[Waiting], object], record: Record, delivery: AsyncDelivery) -> None:
        buffered = 0 if self.config.block_when_full else len(self._raw)
        if self._held_count + buffered >= self.config.buffer_records:
            raise self._buffer_full()
        add(Waiting(record, delivery, time.monotonic() + self.config.max_block_ms / 1000))

    @property
    def _held_count(self) -> int:
        """Records that librdkafka does not have yet."""
        return len(self._waiting) + len(self._uncounted)

    async def _call(self, function: Callable[[], Answer]) -> Answer:
        """Have the worker do it; all that has ended meanwhile knows it when this returns."""
        try:
            return await asyncio.wrap_future(self._worker.submit(function))
        finally:
            self._bridge.settle_all()

    # Inside, in other threads.

    def _wake_bridge(self) -> None:
        self._bridge.wake()

    def _partition_count(self, topic: str) -> int:
        """It was known when the record was taken; nothing is waited for in these threads."""
        return self._counts.newest(topic)

    def _retry_waiting(self) -> bool:
        """Give librdkafka what there is room for now, in order; whether some still wait for room."""
        if self._is_dropping:
            self._give_up_all()
        if self._uncounted:
            self._uncounted.move_known(self._waiting)
            self._give_up_uncounted()
        while self._waiting:
            record, delivery, until = self._waiting[0]
            try:
                self._enqueue(record, delivery)
            except BufferError:
                if time.monotonic() < until:
                    return True
                self._give_up(delivery, self._buffer_full())
            except Exception as error:
                # No ClosedError: it was taken before, and closing waits for it and for those behind it.
                doing = f"send a record to {record.topic!r}"
                self._give_up(delivery, exception_from(error, doing=doing))
            # Only now, so that nobody who comes later can overtake it.
            self._waiting.popleft()
            if not self._waiting:
                self._tell_of_room()
        return False

    def _give_up_uncounted(self) -> None:
        late = self._uncounted.take_late(time.monotonic())
        for delivery, error in late:
            self._give_up(delivery, error)
        if late:
            self._tell_of_room()

    def _tell_of_room(self) -> None:
        if self._is_bound:
            self._bridge.tell_loop(self._room.set)

    def _give_up(self, delivery: AsyncDelivery, error: PenstockClientError) -> None:
        self.given_up_count += 1
        delivery.fail(error)
        delivery._bridge.settled.append(delivery)
        delivery._bridge.hand_over()

    def _flush(self, seconds: float) -> int:
        """How many records are left after so long."""
        deadline = time.monotonic() + seconds
        with self._bridge.attention():
            self._wait_until_none_is_held(deadline)
            left = self._flushed(max(0.0, deadline - time.monotonic()))
        return left + self._held_count

    def hand_over(self, seconds: float) -> int:
        """Wait until librdkafka has all that is held; how many are left after so long."""
        if self._held_count:
            with self._bridge.attention():
                self._wait_until_none_is_held(time.monotonic() + seconds)
        return self._held_count

    def drop(self) -> None:
        """Give up all that is held; in the thread that hands it over, so that nothing slips through."""
        self._is_dropping = True
        try:
            self.hand_over(DROP_SECONDS_MAX)
        finally:
            self._is_dropping = False

    def _wait_until_none_is_held(self, deadline: float) -> None:
        while self._held_count and time.monotonic() < deadline:
            time.sleep(ROOM_SECONDS)

    def _finish(self, seconds: float) -> int:
        if self._transactions is not None:
            self._transactions.abort_open()
        left = self._flush(seconds)
        self._uncounted.stop()
        self._bridge.stop()
        if left:
            self._give_up_all()
            self._purge(seconds)
        self._let_go()
        self._bridge.hand_over()
        return left

    def _give_up_all(self) -> None:
        while self._waiting:
            self._give_up(self._waiting.popleft().delivery, self._buffer_full())
        for delivery, error in self._uncounted.take_late(math.inf):
            self._give_up(delivery, error)
        self._tell_of_room()

    def _buffer_full(self) -> BufferFull:
        text = (
            f"{self.config.buffer_records} records wait for acknowledgement and there is no room for another"
        )
        return BufferFull(self._trouble.explain(text), code="QUEUE_FULL", is_retriable=True)
