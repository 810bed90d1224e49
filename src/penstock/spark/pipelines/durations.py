"""Stretches of time as Spark writes them: ``10 seconds``, ``1 minute 30 seconds``, ``1 hour``.

Months and years are refused, as Spark refuses them for windows and watermarks: they have no fixed length.
"""

import re

_UNITS_MS = {
    "millisecond": 1,
    "second": 1_000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}
_PART = re.compile(r"\s*(\d+)\s*([a-z]+)\s*")


def duration_ms(text: str) -> int | None:
    """Milliseconds of a stretch of time; None if it is none."""
    lowered = text.lower().strip()
    lowered = lowered.removeprefix("interval ")
    total, position = 0, 0
    while position < len(lowered):
        part = _PART.match(lowered, position)
        unit = None if part is None else _UNITS_MS.get(part[2].removesuffix("s"))
        if part is None or unit is None:
            return None
        total += int(part[1]) * unit
        position = part.end()
    return total if lowered else None
