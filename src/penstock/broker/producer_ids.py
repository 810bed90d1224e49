"""Producer ids for this broker, taken in blocks from the controller so that none is given twice."""

import asyncio
from collections.abc import Awaitable, Callable

Allocate = Callable[[], Awaitable[range]]


class ProducerIds:
    """Hands out the ids of a block, then asks for the next block.

    A block is durable in the metadata log before its first id is given out; after a crash the rest of it is
    lost, which costs nothing: there are 2^63.
    """

    def __init__(self, allocate: Allocate) -> None:
        self._allocate = allocate
        self._block = iter(range(0))
        self._lock = asyncio.Lock()

    async def next(self) -> int:
        """An id that nobody had before."""
        async with self._lock:
            producer_id = next(self._block, None)
            if producer_id is None:
                self._block = iter(await self._allocate())
                producer_id = next(self._block)
            return producer_id
