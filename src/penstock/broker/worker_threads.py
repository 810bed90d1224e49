"""Threads for work that blocks: the one place of the broker that starts any.

Two needs, two doors. ``run`` takes a round of flush jobs and answers the loop with one call when the last
of them has ended; a round of one costs one hand-over. ``call`` runs any blocking function and is awaited.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

FLUSH_THREADS = 4
"""Flushes of several files side by side share the file system's journal commits."""

BLOCKING_THREADS = 8


class WorkerThreads:
    """Runs blocking calls for one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"penstock-flush-{number}", daemon=True)
            for number in range(FLUSH_THREADS)
        ]
        self._pool = ThreadPoolExecutor(BLOCKING_THREADS, thread_name_prefix="penstock-blocking")
        for thread in self._threads:
            thread.start()

    def run(
        self, calls: Sequence[Callable[[], None]], done: Callable[[Sequence[BaseException | None]], None]
    ) -> None:
        """Run all calls, side by side; then tell the loop how each of them ended."""
        share = _Round(len(calls), lambda outcomes: self._loop.call_soon_threadsafe(done, outcomes))
        for number, call in enumerate(calls):
            self._queue.put(partial(share.run, number, call))

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run one blocking function and await its result."""
        return await self._loop.run_in_executor(self._pool, function, *arguments)

    def stop(self) -> None:
        """Let queued work end, then end the threads."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            task()


class _Round:
    """Counts the calls of one round down; whoever ends last reports for all."""

    __slots__ = ("_left", "_lock", "_outcomes", "_report")

    def __init__(self, count: int, report: Callable[[Sequence[BaseException | None]], object]) -> None:
        self._outcomes: list[BaseException | None] = [None] * count
        self._left = count
        self._lock = threading.Lock()
        self._report = report

    def run(self, number: int, call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:  # carried to the loop, which decides; nothing is swallowed here
            self._outcomes[number] = error
        with self._lock:
            self._left -= 1
            is_last = self._left == 0
        if is_last:
            self._report(self._outcomes)
