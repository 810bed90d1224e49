"""Points in time as people read them: in UTC, without what nobody looks at."""

from datetime import UTC, datetime

_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, behind which no calendar of ours goes."""


def format_instant(milliseconds: int | None) -> str:
    """``2026-01-31 08:00:00``; the number itself where it is no date, and ``-`` for none."""
    if milliseconds is None or milliseconds < 0:
        return "-"
    if milliseconds > _LATEST_MS:
        return str(milliseconds)
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
