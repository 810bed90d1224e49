"""How long a page may keep the loop to itself before clients get a turn."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import TypeVar

from penstock.broker.clock import Clock

T = TypeVar("T")

TURN_SECONDS_MAX = 0.002
ITEMS_BETWEEN_LOOKS = 64
"""At the clock, which costs about as much as an item."""


class Pace:
    """Of one page that is being made."""

    __slots__ = ("_clock", "_until")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until = clock.monotonic() + TURN_SECONDS_MAX

    @property
    def is_over(self) -> bool:
        """Whether it is somebody else's turn."""
        return self._clock.monotonic() >= self._until

    async def rest(self) -> None:
        """Let everybody else have a turn."""
        await asyncio.sleep(0)
        self._until = self._clock.monotonic() + TURN_SECONDS_MAX

    async def chunks(self, items: Iterable[T]) -> AsyncIterator[list[T]]:
        """The items, a few at a time, with rests between them: what they come from must bear that."""
        remaining = iter(items)
        while chunk := list(islice(remaining, ITEMS_BETWEEN_LOOKS)):
            yield chunk
            if self.is_over:
                await self.rest()
