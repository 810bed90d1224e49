"""How many of something there are at once, and a refusal for whoever comes when there are enough."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.gateway.errors import GatewayError


class BoundedCount:
    """Counts what is going on; any thread may use it."""

    def __init__(self, count_max: int, *, of: str) -> None:
        self._count_max = count_max
        self._of = of
        self._lock = threading.Lock()
        self._count = 0

    @property
    def count(self) -> int:
        """How many there are now."""
        return self._count

    def enter(self) -> None:
        """One more; 503 when there are enough."""
        with self._lock:
            if self._count >= self._count_max:
                raise GatewayError(
                    503,
                    f"The gateway has {self._count_max} {self._of}, which is all it may have at once; "
                    "try again in a moment.",
                )
            self._count += 1

    def leave(self) -> None:
        """One less."""
        with self._lock:
            self._count -= 1

    @contextmanager
    def hold(self) -> Iterator[None]:
        """One more for as long as the ``with`` block runs."""
        self.enter()
        try:
            yield
        finally:
            self.leave()
