"""The kinds of values that options take, each with the words for what it takes."""

import re
from collections.abc import Callable, Iterable

from penstock.spark.options.definition import Kind

LONG_MAX = 2**63 - 1

_UNITS_MS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
    **dict.fromkeys(("w", "week", "weeks"), 604_800_000),
}
_DURATION = re.compile(r"(\d+)\s*([a-z]*)")


def duration_ms(text: str) -> int:
    """Milliseconds of ``15m``, ``10 minutes`` or ``500``, which are milliseconds already."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(text)
    number, unit = match.groups()
    if unit and unit not in _UNITS_MS:
        raise ValueError(text)
    return int(number) * _UNITS_MS[unit or "ms"]


def is_duration_with_unit(text: str) -> bool:
    """Whether ``text`` is a stretch of time that says in what it is counted."""
    match = _DURATION.fullmatch(text.strip().lower())
    return match is not None and match.group(2) in _UNITS_MS


def _boolean(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError(text)
    return lowered == "true"


def _whole_number(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", text.strip()):
        raise ValueError(text)
    return int(text)


def _between(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = _whole_number(text)
        if not least <= number <= most:
            raise ValueError(text)
        return number

    return parse


def _non_empty(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise ValueError(text)
    return stripped


def whole_number(*, least: int, most: int = LONG_MAX) -> Kind:
    """A number without a fraction."""
    limits = f"of at least {least}" if most == LONG_MAX else f"from {least} to {most}"
    return Kind(name="integer", parse=_between(least, most), expected=f"a whole number {limits}")


def choice(words: Iterable[str]) -> Kind:
    """One of some words, in any case."""
    known = tuple(words)

    def parse(text: str) -> str:
        lowered = text.strip().lower()
        if lowered not in known:
            raise ValueError(text)
        return lowered

    return Kind(name=" | ".join(known), parse=parse, expected=" or ".join(known))


BOOLEAN = Kind(name="boolean", parse=_boolean, expected="true or false")


def _as_it_is(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


SECRET = Kind(name="secret", parse=_as_it_is, expected="some text")
TEXT = Kind(name="text", parse=_non_empty, expected="some text")
DURATION = Kind(name="duration", parse=duration_ms, expected="a duration such as 500ms, 30s, 15m or 2 hours")
MILLISECONDS = whole_number(least=0, most=2**31 - 1)
ANYTHING = Kind(name="any", parse=str, expected="anything")
