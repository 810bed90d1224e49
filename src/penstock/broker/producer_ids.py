"""Producer ids for this broker, taken in blocks from the controller so that none is given twice."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from penstock.broker.tasks import Tasks
from penstock.model.errors import ApiError

logger = logging.getLogger(__name__)

Allocate = Callable[[], Awaitable[range]]

REFILL_BELOW = 100
"""A new block is asked for ahead of need when fewer ids are left."""


class ProducerIds:
    """Hands out the ids of a block, then asks for the next block.

    A block is durable in the metadata log before its first id is given out; after a crash the rest of it is
    lost, which costs nothing: there are 2^63.
    """

    def __init__(self, allocate: Allocate, tasks: Tasks) -> None:
        self._allocate = allocate
        self._tasks = tasks
        self._free: deque[int] = deque()
        self._lock = asyncio.Lock()
        self._is_refilling = False

    async def next(self) -> int:
        """An id that nobody had before."""
        await self.wait_available()
        return self._free.popleft()

    async def wait_available(self) -> None:
        """Return when there is an id, to be taken before anything else is awaited."""
        while not self._free:
            async with self._lock:
                if not self._free:
                    self._free.extend(await self._allocate())

    def next_nowait(self) -> int | None:
        """An id that nobody had before, if one is at hand; more are asked for ahead of need."""
        if len(self._free) < REFILL_BELOW and not self._is_refilling:
            self._is_refilling = True
            self._tasks.start(self._refill(), name="fetch producer ids")
        return self._free.popleft() if self._free else None

    async def _refill(self) -> None:
        try:
            async with self._lock:
                self._free.extend(await self._allocate())
        except ApiError as error:
            logger.warning("no producer ids to be had", extra={"reason": str(error)})
        finally:
            self._is_refilling = False
