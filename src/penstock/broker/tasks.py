"""Tasks with an owner: whatever runs beside a request is started here and ends with the broker."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

logger = logging.getLogger(__name__)


class Tasks:
    """Starts coroutines, keeps them alive, reports those that fail, cancels the rest at the end."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, on_bug: Callable[[Exception], None] = lambda error: None
    ) -> None:
        self._loop = loop
        self._on_bug = on_bug
        self._running: dict[asyncio.Task[Any], None] = {}

    def __len__(self) -> int:
        return len(self._running)

    def start(self, coroutine: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Run a coroutine that answers for its own errors; one that escapes it is logged as a bug."""
        task = self._loop.create_task(coroutine, name=name)
        self._running[task] = None
        task.add_done_callback(self._ended)
        return task

    def start_duty(self, coroutine: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Run what others rely on for as long as this process lives: no error escapes it but a bug.

        A broker that goes on without a duty looks alive and is not, so whoever owns the tasks is told.
        """
        task = self.start(coroutine, name=name)
        task.add_done_callback(self._duty_ended)
        return task

    async def stop(self) -> None:
        """Cancel whatever still runs, and wait for it."""
        for task in list(self._running):
            task.cancel()
        while self._running:
            await asyncio.wait(list(self._running))

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("task failed", exc_info=error, extra={"task": task.get_name()})

    def _duty_ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            # Later, so that whoever watches this loop sees the error itself first.
            self._loop.call_soon(self._on_bug, error)
