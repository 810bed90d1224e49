"""Numbers as people read them."""

from datetime import UTC, datetime

DATE_AND_HOUR = "%Y-%m-%d %H:%M"
DAY_AND_HOUR = "%m-%d %H:%M"
HOUR = "%H:%M:%S"

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")
_STEP = 1024
_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999."""


def shown_bytes(count: float) -> str:
    """``512 B``, ``1.5 KiB``, ``230 GiB``."""
    amount, unit = float(count), "B"
    for larger in _UNITS:
        if amount < _STEP:
            break
        amount, unit = amount / _STEP, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def shown_time(milliseconds: int, *, pattern: str = DATE_AND_HOUR) -> str:
    """A point in time in UTC; the number itself where no calendar goes."""
    if milliseconds > _LATEST_MS:
        return str(milliseconds)
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime(pattern)
