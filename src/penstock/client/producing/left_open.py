"""Producers that a program leaves open: its end closes them, so that what was sent is not lost with them."""

import atexit
from typing import Protocol
from weakref import WeakSet

EXIT_SECONDS = 5.0
"""How long each of them may take."""


class LeftOpen(Protocol):
    """A producer that nobody has closed."""

    def close_at_last(self) -> None:
        """Send what it holds, if that is quick."""


OPEN: "WeakSet[LeftOpen]" = WeakSet()


@atexit.register
def close_all() -> None:
    """Those that a program leaves open when it ends."""
    for producer in list(OPEN):
        producer.close_at_last()
