"""Numbers of many things over time, on one axis: the newest so many moments of at most so many names.

Eight bytes for each number, and a gap (NaN) where nothing was told, so that a console that runs for months
holds no more than one that runs for an hour.
"""

import math
from array import array
from collections import deque
from collections.abc import Mapping, Sequence

MOMENTS_MAX = 720
NAMES_MAX = 500

GAP = math.nan


class History:
    """Several series on one axis of moments; one thread writes, any thread reads under the owner's lock."""

    def __init__(self, *, moments_max: int = MOMENTS_MAX, names_max: int = NAMES_MAX) -> None:
        self._moments_max = moments_max
        self._names_max = names_max
        self._times_ms: deque[int] = deque(maxlen=moments_max)
        self._values: dict[str, array[float]] = {}

    def add(self, now_ms: int, values: Mapping[str, float | None]) -> None:
        """Note what was measured now; a name that is missing, or None, has a gap."""
        for name in sorted(values):
            if name not in self._values and len(self._values) < self._names_max:
                self._values[name] = array("d", [GAP] * len(self._times_ms))
        is_full = len(self._times_ms) == self._moments_max
        self._times_ms.append(now_ms)
        for name, series in self._values.items():
            value = values.get(name)
            series.append(GAP if value is None else value)
            if is_full:
                series.pop(0)
        self._forget_gone()

    def series(self, name: str) -> list[tuple[int, float | None]]:
        """What was measured of one thing: moments and numbers, None for a gap; nothing if it is not known."""
        values: Sequence[float] = self._values.get(name, ())
        return [
            (time_ms, None if math.isnan(value) else value)
            for time_ms, value in zip(self._times_ms, values, strict=False)
        ]

    def latest(self, name: str) -> float | None:
        """The newest number of one thing, None if there is none."""
        series = self._values.get(name)
        return None if not series or math.isnan(series[-1]) else series[-1]

    def names(self) -> list[str]:
        """Everything of which something is known."""
        return list(self._values)

    def _forget_gone(self) -> None:
        """Make room for new names: what is only gaps was deleted long ago."""
        if len(self._values) == self._names_max:
            gone = [name for name, series in self._values.items() if all(map(math.isnan, series))]
            for name in gone:
                del self._values[name]
