"""Things that are costly to make and used by one thread at a time: lent, given back, and bounded."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from penstock.gateway.errors import GatewayError

WAIT_SECONDS_MAX = 5.0
"""How long a request waits for one that others use."""


class Closable(Protocol):
    """What can be let go of."""

    def close(self) -> None:
        """Let go of everything."""
        ...


Thing = TypeVar("Thing", bound=Closable)


class Pool(Generic[Thing]):
    """Lends what ``make`` makes; one that was used when something went wrong is not used again."""

    def __init__(self, make: Callable[[], Thing], *, count_max: int, name: str, idle_max: int = 4) -> None:
        self._make = make
        self._name = name
        self._count_max = count_max
        self._idle_max = idle_max
        self._room = threading.BoundedSemaphore(count_max)
        self._lock = threading.Lock()
        self._idle: list[Thing] = []
        self._is_closed = False

    @contextmanager
    def lend(self, *, wait_seconds: float = WAIT_SECONDS_MAX) -> Iterator[Thing]:
        """One of them, for as long as the ``with`` block runs; 503 if all are in use for too long."""
        deadline = time.monotonic() + wait_seconds
        if not self._room.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise GatewayError(
                503, f"All {self._count_max} {self._name} of this gateway are in use; try again in a moment."
            )
        try:
            yield from self._lend_one()
        finally:
            self._room.release()

    def close(self) -> None:
        """Let go of those that nobody uses, and of the others when they come back."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for thing in idle:
            thing.close()

    def _lend_one(self) -> Iterator[Thing]:
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        thing = self._make() if idle is None else idle
        try:
            yield thing
        except BaseException:
            thing.close()
            raise
        self._take_back(thing)

    def _take_back(self, thing: Thing) -> None:
        with self._lock:
            is_kept = not self._is_closed and len(self._idle) < self._idle_max
            if is_kept:
                self._idle.append(thing)
        if not is_kept:
            thing.close()
