"""Futures and tasks whose place in a set does not depend on where they lie in memory.

``asyncio.wait``, ``gather`` and task groups keep sets of them, and walk those sets when they cancel. By
default an object's hash is its address, which differs from run to run. The number is given when a set first
asks for it: most futures never need one.
"""

import asyncio
from typing import Any, TypeVar, cast

T = TypeVar("T")


class SimulatedFuture(asyncio.Future[T]):
    """A future with a number."""

    _number = 0

    def __hash__(self) -> int:
        if not self._number:
            self._number = _next_number(self)
        return self._number


class SimulatedTask(asyncio.Task[T]):
    """A task with a number."""

    _number = 0

    def __hash__(self) -> int:
        if not self._number:
            self._number = _next_number(self)
        return self._number


def _next_number(future: "asyncio.Future[Any]") -> int:
    world = cast(Any, future.get_loop()).world
    return cast(int, world.number_object())
