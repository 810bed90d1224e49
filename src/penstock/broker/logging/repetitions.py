"""Keeps one event that repeats itself from filling the log: so many in a while, the rest is counted.

Counts are told when the while is over, so that nobody takes a quiet log for a quiet broker.
"""

from dataclasses import dataclass
from typing import NamedTuple

COUNT_MAX = 100
WINDOW_MS = 10_000
KINDS_MAX = 1_000
"""Kinds of events watched at one time; what comes beyond shares one window."""


class Kind(NamedTuple):
    """What makes two events the same, whatever their fields."""

    component: str
    event: str
    level_number: int


class LeftOut(NamedTuple):
    """How often an event came that was not kept."""

    kind: Kind
    times: int


OTHERS = Kind("broker.logging", "other events", 0)


@dataclass(slots=True, kw_only=True)
class _Window:
    ends_at: int
    count: int = 0


class Repetitions:
    """Counts events by kind. Time is an argument."""

    def __init__(self, *, count_max: int = COUNT_MAX, window_ms: int = WINDOW_MS) -> None:
        self._count_max = count_max
        self._window_ms = window_ms
        self._windows: dict[Kind, _Window] = {}
        self._over: list[LeftOut] = []

    def admits(self, kind: Kind, now: int) -> bool:
        """Whether one more of this kind is kept."""
        if kind not in self._windows and len(self._windows) >= KINDS_MAX:
            kind = OTHERS
        window = self._windows.get(kind)
        if window is None or now >= window.ends_at:
            self._close(kind)
            window = self._windows[kind] = _Window(ends_at=now + self._window_ms)
        window.count += 1
        return window.count <= self._count_max

    def take_left_out(self, now: int) -> list[LeftOut]:
        """What was not kept in windows that are over, once each."""
        for kind in [kind for kind, window in self._windows.items() if now >= window.ends_at]:
            self._close(kind)
        over, self._over = self._over, []
        return over

    def _close(self, kind: Kind) -> None:
        window = self._windows.pop(kind, None)
        if window is not None and window.count > self._count_max:
            self._over.append(LeftOut(kind, window.count - self._count_max))
