"""Blocking work that does not block, since its files are in memory: done on the spot, without a thread."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class InlineWorkers:
    """Runs everything on the loop; a simulated disk is nobody's but the loop's."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    @property
    def is_idle(self) -> bool:
        """Nothing is ever left to do."""
        return True

    def run(
        self, calls: Sequence[Callable[[], None]], done: Callable[[Sequence[BaseException | None]], None]
    ) -> None:
        """Run all calls, then tell the loop how each of them ended."""
        self._loop.call_soon(done, [_outcome(call) for call in calls])

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run one function; others get their turn first, as they would if it took any time."""
        await asyncio.sleep(0)
        return function(*arguments)

    def stop(self) -> None:
        """Nobody is left to end."""

    def abandon(self) -> None:
        """Nothing is queued."""


def _outcome(call: Callable[[], None]) -> BaseException | None:
    try:
        call()
    except Exception as error:  # carried to the loop, which decides
        return error
    return None
