"""The consumer for programs with an event loop.

What may have to wait is done by a thread. Messages that are there already are fetched by the loop itself when
that thread has nothing to do: a switch to it and back costs as much as many messages. Only where fetching may
call functions of the caller's, such as those that hear of rebalances, does the thread fetch everything: they
run in the loop, and whoever fetches waits for them. For a caller who is quick it fetches several lists at a
time, so that switches are few. Messages are marked as seen when they are handed over: a ``poll`` that is
cancelled loses none.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, Self, Unpack

from penstock.client.asynchronous.off_loop import Answer, OffLoop, off_loop
from penstock.client.asynchronous.worker import Worker
from penstock.client.config.consumer_config import ConsumerConfig, ConsumerSettings
from penstock.client.consuming.consumer import BUSY_WITH_CALLBACK, POLL_SECONDS, STORE_SECONDS, Consumer
from penstock.client.consuming.message import Message
from penstock.client.consuming.pace import Pace
from penstock.client.consuming.rebalancing import RebalanceCallback
from penstock.client.errors import ConfigurationError
from penstock.client.topic_partition import Offsets, TopicPartition

SLICE_SECONDS = 0.05
"""The thread waits for messages no longer than that before it looks for other orders."""

HERE_RECORDS_MAX = 500
"""Longer lists are made by the thread, since other tasks would wait for them."""

VISIT_SECONDS = 0.02
"""Who uses up within that time what the thread has fetched is quick, and may go on with the next list. For
others librdkafka is visited before each, as if there were no next: it may want to call back, and counts the
time since the last visit."""

LISTS_MAX = 8
"""So many lists the thread fetches at a time; twice as many were not measurably faster."""

TURN_SECONDS = 0.001
"""So long a task may read what is there before others get their turn."""

AsyncRebalanceCallback = Callable[[Sequence[TopicPartition]], object]
"""A function or coroutine function; it runs in the loop, while the consumer waits for it."""


class AsyncConsumer(OffLoop):
    """``Consumer`` with coroutines for methods, and ``async for``."""

    def __init__(self, config: ConsumerConfig | None = None, **settings: Unpack[ConsumerSettings]) -> None:
        self._inner: Consumer = Consumer(config, **settings)
        self.config: ConsumerConfig = self._inner.config
        self._employ(Worker(f"penstock-consumer-{self.config.client_id}"))
        self._progress = self._inner._progress
        self._fetching: asyncio.Future[bool] | None = None
        self._next_store = 0.0
        self._next_turn = 0.0
        self._next_visit = 0.0
        self._visits = Pace(most=LISTS_MAX, quick_seconds=VISIT_SECONDS)
        self._calls_back = any(map(callable, self.config.kafka.values()))
        """Whether fetching may call functions of the caller's."""
        self._calling_back: set[asyncio.Task[Any] | None] = set()
        """The tasks in which such functions run just now."""
        self._is_closed = False

    assign = off_loop(Consumer.assign, is_alone=True)
    unsubscribe = off_loop(Consumer.unsubscribe, is_alone=True)
    commit = off_loop(Consumer.commit)
    committed = off_loop(Consumer.committed)
    assignment = off_loop(Consumer.assignment)
    position = off_loop(Consumer.position)
    lag = off_loop(Consumer.lag)
    seek = off_loop(Consumer.seek)
    seek_to_beginning = off_loop(Consumer.seek_to_beginning)
    seek_to_end = off_loop(Consumer.seek_to_end)
    seek_to_time = off_loop(Consumer.seek_to_time)
    rewind = off_loop(Consumer.rewind)
    pause = off_loop(Consumer.pause)
    resume = off_loop(Consumer.resume)

    async def subscribe(
        self,
        topics: str | Iterable[str] = (),
        *,
        pattern: str | None = None,
        on_assigned: AsyncRebalanceCallback | None = None,
        on_revoked: AsyncRebalanceCallback | None = None,
        on_lost: AsyncRebalanceCallback | None = None,
    ) -> None:
        """As ``Consumer.subscribe``; callbacks may be coroutines, which may ``commit`` and ``seek``."""
        # For good: what this subscription has may still be revoked when the next one is there.
        self._calls_back |= any(each is not None for each in (on_assigned, on_revoked, on_lost))
        subscribe = partial(
            self._inner.subscribe,
            topics,
            pattern=pattern,
            on_assigned=self._on_loop(on_assigned),
            on_revoked=self._on_loop(on_revoked),
            on_lost=self._on_loop(on_lost),
        )
        await self._call(subscribe)

    async def poll(self, timeout: float = POLL_SECONDS, max_records: int | None = None) -> list[Message]:
        """The next messages, up to ``max_poll_records``: at once if there are any, none if none come."""
        most = self._inner._list_records if max_records is None else max_records
        await self._have(timeout, most)
        return self._progress.take(most)

    async def consume_one(self, timeout: float = POLL_SECONDS) -> Message | None:
        """The next message; None if there is none in time."""
        found = await self.poll(timeout, 1)
        return found[0] if found else None

    def __aiter__(self) -> AsyncIterator[Message]:
        """All messages, for ever."""
        return self.messages()

    async def messages(self, idle_timeout: float | None = None) -> AsyncIterator[Message]:
        """All messages; ends when there was none for ``idle_timeout`` seconds."""
        wait = POLL_SECONDS if idle_timeout is None else idle_timeout
        pace = Pace()
        while await self._have(wait, self._inner._list_records) or idle_timeout is None:
            pace.go_on()
            while not self._progress.is_used_up:
                for message in islice(self._progress.rest, pace.count):
                    yield message
                now = pace.now()
                if now > self._next_turn:
                    await self._let_others(now)
                if now > self._next_store:
                    self._next_store = now + STORE_SECONDS
                    await self._call(self._inner._store_seen)

    async def start_consuming(
        self, callback: Callable[[Message], Awaitable[bool | None] | bool | None]
    ) -> None:
        """Give ``callback``, a function or coroutine function, every message, until it returns False."""
        async for message in self:
            answer = callback(message)
            if inspect.isawaitable(answer):
                answer = await answer
            if answer is False:
                return

    async def offsets_for_transaction(self) -> tuple[Offsets, Any]:
        """Up to where the caller has seen every partition, and who this member is."""
        return await self._call(lambda: (self._inner.seen_offsets(), self._inner.group_metadata()))

    async def close(self, *, commit: bool = True) -> None:
        """Commit what was seen, if ``enable_auto_commit`` says so, and leave the group; once or twice."""
        if self._is_closed:
            return
        self._refuse_in_callback()
        self._is_closed = True
        closing = self._worker.submit(partial(self._inner.close, commit=commit), is_alone=True)
        # Not before: callbacks of the last rebalance may still commit.
        closing.add_done_callback(lambda _: self._worker.close())
        await asyncio.shield(asyncio.wrap_future(closing))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """After an exception, the last messages may not have been dealt with: they are not committed."""
        await self.close(commit=error is None)

    async def _call_alone(self, function: Callable[[], Answer]) -> Answer:
        """While a callback runs it waits for that one's end, and so must not be asked for by that one."""
        self._refuse_in_callback()
        return await super()._call_alone(function)

    def _refuse_in_callback(self) -> None:
        if self._calling_back and asyncio.current_task() in self._calling_back:
            raise ConfigurationError(BUSY_WITH_CALLBACK)

    async def _have(self, timeout: float, most: int) -> bool:
        """Have messages to hand over. What the thread fetches for a task that was cancelled is kept."""
        self._refuse_in_callback()
        now = time.monotonic()
        deadline = now + timeout
        if now > self._next_turn:
            await self._let_others(now)
        if self._can_go_on(now) and self._progress.go_on():
            return True
        if self._can_fetch_here(most) and (self._inner.fetch(0.0, most) or timeout <= 0):
            return not self._progress.is_used_up
        while True:
            left = max(0.0, deadline - time.monotonic())
            if self._fetching is None:
                self._fetching = self._fetch_in_thread(left, most)
            fetching = self._fetching
            try:
                has_some = await asyncio.shield(fetching)
            finally:
                if fetching.done() and self._fetching is fetching:
                    self._fetching = None
                    self._next_visit = time.monotonic() + VISIT_SECONDS
            if has_some or left <= 0:
                return has_some and not self._progress.is_used_up

    async def _let_others(self, now: float) -> None:
        """Give other tasks a turn, however many messages there are."""
        self._next_turn = now + TURN_SECONDS
        await asyncio.sleep(0)

    def _fetch_in_thread(self, seconds: float, most: int) -> asyncio.Future[bool]:
        self._visits.now()
        is_ahead = self._calls_back and most <= HERE_RECORDS_MAX
        lists = self._visits.count if is_ahead else 1
        fetch = partial(self._inner.fetch_ahead, min(seconds, SLICE_SECONDS), most, lists)
        return asyncio.wrap_future(self._worker.submit(fetch, is_alone=True))

    @property
    def _is_thread_free(self) -> bool:
        return self._worker.is_idle and self._fetching is None

    def _can_go_on(self, now: float) -> bool:
        """Whether what the thread has fetched may be handed over before it is asked again."""
        return self._is_thread_free and now < self._next_visit and not self._inner.is_store_due

    def _can_fetch_here(self, most: int) -> bool:
        """Whether the loop may do it: the thread is not at it, and nothing would be waited for."""
        # Of what was only just assigned by hand, brokers must be asked where to begin.
        is_quick = most <= HERE_RECORDS_MAX and not self._inner._unassigned
        return self._is_thread_free and is_quick and not self._calls_back

    def _on_loop(self, callback: AsyncRebalanceCallback | None) -> RebalanceCallback | None:
        """A callback for the thread which has the loop call the caller's, and does other orders meanwhile."""
        if callback is None:
            return None
        loop = asyncio.get_running_loop()
        seconds = self.config.max_poll_interval_ms / 1000

        async def invoke(partitions: Sequence[TopicPartition]) -> None:
            self._calling_back.add(asyncio.current_task())
            try:
                answer = callback(partitions)
                if inspect.isawaitable(answer):
                    await answer
            finally:
                self._calling_back.discard(asyncio.current_task())

        def call(partitions: Sequence[TopicPartition]) -> None:
            ended = asyncio.run_coroutine_threadsafe(invoke(partitions), loop)
            self._worker.serve_until(ended, seconds)
            ended.result(0)

        return call
