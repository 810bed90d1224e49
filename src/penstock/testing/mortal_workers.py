"""Worker threads of a broker that may be killed: what they have not begun by then is never done."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from penstock.broker.worker_threads import WorkerThreads
from penstock.model.errors import OperatingError

T = TypeVar("T")


class MortalWorkers:
    """Threads as a broker process has them, and the knowledge of whether any of them is busy."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._threads = WorkerThreads(loop)
        self._busy_count = 0  # only touched by the loop
        self._is_dead = False

    @property
    def is_idle(self) -> bool:
        """Whether everything asked for so far has ended, as the loop knows it."""
        return self._busy_count == 0

    def run(
        self, calls: Sequence[Callable[[], None]], done: Callable[[Sequence[BaseException | None]], None]
    ) -> None:
        """Run all calls, side by side; then tell the loop how each of them ended."""

        def ended(outcomes: Sequence[BaseException | None]) -> None:
            self._busy_count -= 1
            done(outcomes)

        self._busy_count += 1
        self._threads.run([partial(self._do, call) for call in calls], ended)

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run one blocking function and await its result."""
        self._busy_count += 1
        try:
            return await self._threads.call(partial(self._do, function, *arguments))
        finally:
            self._busy_count -= 1

    def stop(self) -> None:
        """Let queued work end, then end the threads."""
        self._threads.stop()

    def abandon(self) -> None:
        """End the threads as soon as each has done what it is at; a killed process finishes no more."""
        self._is_dead = True
        self._threads.stop()

    def _do(self, function: Callable[..., T], *arguments: object) -> T:
        if self._is_dead:
            raise OperatingError("This broker was killed.")
        return function(*arguments)
