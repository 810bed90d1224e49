"""Points in time and stretches of it, as people type them; inside they are milliseconds.

No moment lies before 1970: Kafka has special meanings for timestamps below zero, and no records that old.
"""

import re
from datetime import UTC, datetime

from penstock.model.errors import UsageError

_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that ISO 8601 can say; larger numbers would not fit into a request."""

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SHORT = re.compile(r"(?:\d+(?:ms|[smhdw]))+")
_SHORT_PART = re.compile(r"(\d+)(ms|[smhdw])")
_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d{1,3})?)S)?)?"
)


def parse_duration(text: str, *, option: str) -> int:
    """Milliseconds of ``10m``, ``1h30m`` or ISO 8601's ``PT10M``; months and years have no fixed length."""
    if _SHORT.fullmatch(text):
        return sum(int(number) * _UNITS_MS[unit] for number, unit in _SHORT_PART.findall(text))
    match = _ISO.fullmatch(text.upper())
    parts = {} if match is None else {unit: value for unit, value in match.groupdict().items() if value}
    if not parts:
        raise UsageError(f"{option} {text!r} is no duration like 10m, 1h30m, 7d or PT10M.")
    return round(sum(float(value) * _UNITS_MS[unit] for unit, value in parts.items()))


def parse_instant(text: str, *, option: str) -> int:
    """Milliseconds since 1970 of an ISO 8601 date and time (UTC unless it names a zone), or of ``@MS``."""
    if text.startswith("@") and text[1:].isdecimal() and int(text[1:]) <= _LATEST_MS:
        return int(text[1:])
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option} {text!r} is no time like 2026-01-31T08:00:00, 2026-01-31T08:00:00+01:00 "
            "or @1769846400000."
        ) from None
    aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    return max(0, round(aware.timestamp() * 1000))


def before(now_ms: int, duration_ms: int) -> int:
    """The moment so long ago."""
    return max(0, now_ms - duration_ms)


def parse_past(text: str, *, option: str, now_ms: int) -> int:
    """Milliseconds since 1970 of ``10m`` (so long before now) or of anything that ``parse_instant`` takes."""
    if is_past_duration(text):
        return before(now_ms, parse_duration(text, option=option))
    try:
        return parse_instant(text, option=option)
    except UsageError as error:
        raise UsageError(f"{error} It is no duration like 10m, 1h30m or 7d either.") from None


def is_past_duration(text: str) -> bool:
    """Whether ``parse_past`` takes it for so long before now, which is another time whenever it is asked."""
    return bool(_SHORT.fullmatch(text) or _ISO.fullmatch(text.upper()))


def format_duration(milliseconds: int) -> str:
    """At most two units, largest first: ``1h30m``, ``45s``; less than a second in milliseconds."""
    if milliseconds < _UNITS_MS["s"]:
        return f"{max(0, milliseconds)}ms"
    parts: list[str] = []
    for unit in ("d", "h", "m", "s"):
        count, milliseconds = divmod(milliseconds, _UNITS_MS[unit])
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
    return "".join(parts[:2])
