"""Tasks with an owner: whatever runs beside a request is started here and ends with the broker."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


class Tasks:
    """Starts coroutines, keeps them alive, reports those that fail, cancels the rest at the end."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: dict[asyncio.Task[Any], None] = {}

    def __len__(self) -> int:
        return len(self._running)

    def start(self, coroutine: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Run a coroutine that answers for its own errors; one that escapes it is logged as a bug."""
        task = self._loop.create_task(coroutine, name=name)
        self._running[task] = None
        task.add_done_callback(self._ended)
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
