"""How much is handed over between two looks at the clock, or two visits to librdkafka."""

from time import monotonic

QUICK_SECONDS = 0.005
MOST = 64


class Pace:
    """One, and twice as many each time, as long as the caller is quick; one again when it is not."""

    __slots__ = ("_last", "_most", "_quick_seconds", "count")

    def __init__(self, *, most: int = MOST, quick_seconds: float = QUICK_SECONDS) -> None:
        self.count = 1
        self._most = most
        self._quick_seconds = quick_seconds
        self._last = monotonic()

    def go_on(self) -> None:
        """Messages were waited for: that is not the caller's time."""
        self._last = monotonic()

    def now(self) -> float:
        """The time, and a new count."""
        before, self._last = self._last, monotonic()
        is_quick = self._last - before < self._quick_seconds
        self.count = min(self._most, 2 * self.count) if is_quick else 1
        return self._last
