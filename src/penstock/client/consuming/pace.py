"""How many messages are handed over between two looks at the clock."""

from time import monotonic

QUICK_SECONDS = 0.005
MOST = 64


class Pace:
    """One, and twice as many each time, as long as the caller is quick; one again when it is not."""

    __slots__ = ("_last", "count")

    def __init__(self) -> None:
        self.count = 1
        self._last = monotonic()

    def go_on(self) -> None:
        """Messages were waited for: that is not the caller's time."""
        self._last = monotonic()

    def now(self) -> float:
        """The time, and a new count."""
        before, self._last = self._last, monotonic()
        self.count = min(MOST, 2 * self.count) if self._last - before < QUICK_SECONDS else 1
        return self._last
