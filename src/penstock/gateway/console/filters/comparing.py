"""Comparisons: one operator, one literal, and values of any type; those of another type never match."""

from collections.abc import Callable
from datetime import UTC, datetime
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from penstock.gateway.console.filters.text_search import Needle, compile_pattern

Test = Callable[[Any], bool]

_ORDERED: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
EQUAL = ("=", "==")
_WORDS = {"null": None, "true": True, "false": False}


def literal(text: str, *, is_quoted: bool) -> Any:
    """What was written: a number, true, false, null, or text."""
    if is_quoted:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = number_of(text)
    return text if number is None else number


def number_of(text: str) -> int | float | None:
    """The number that a text is."""
    for kind in (int, float):
        try:
            found = kind(text)
        except ValueError:
            continue
        return found if found == found and abs(found) != float("inf") else None
    return None


def instant_ms(text: str) -> int | None:
    """Milliseconds since 1970 of a number of them, or of ISO 8601; without a zone it is UTC."""
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def document_test(operator: str, text: str, *, is_quoted: bool) -> Test:
    """A test of values inside JSON; ValueError if the operator cannot be used with the literal."""
    wanted = literal(text, is_quoted=is_quoted)
    if operator == ":":
        needle = Needle(text)
        return needle.is_in_document
    if operator == "~":
        pattern = compile_pattern(text)
        return lambda value: isinstance(value, str) and pattern(value.encode())
    if operator in EQUAL:
        return lambda value: _is_same(value, wanted)
    if operator == "!=":
        return lambda value: not _is_same(value, wanted)
    return _ordered(operator, wanted)


def number_test(operator: str, wanted: int | float) -> Test:
    """A test of numbers; ValueError for an operator that is not for numbers."""
    tests = {**_ORDERED, "!=": ne, ":": eq, "=": eq, "==": eq}
    if operator not in tests:
        raise ValueError("it is for text")
    compare = tests[operator]
    return lambda value: compare(value, wanted)


def _ordered(operator: str, wanted: Any) -> Test:
    compare = _ORDERED[operator]
    if isinstance(wanted, str):
        return lambda value: isinstance(value, str) and compare(value, wanted)
    if not _is_number(wanted):
        raise ValueError("numbers and text have an order, true, false and null have none")
    return lambda value: _is_number(value) and compare(value, wanted)


def _is_same(value: Any, wanted: Any) -> bool:
    """JSON's true is not 1, though Python's is."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
