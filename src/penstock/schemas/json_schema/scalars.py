"""Limits of numbers and texts: what a reader demands must follow from what the writer promises."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from penstock.schemas.json_schema.parts import Part
from penstock.schemas.json_schema.reasons import Found, reason
from penstock.schemas.json_schema.values import FRACTION, INTEGER, exact, type_of
from penstock.schemas.json_schema.written import Written

Bound = tuple[Fraction, bool]
"""A limit, and whether it is excluded itself."""


def number_reasons(part: Part, known: Written, path: str) -> Found:
    """Of ``maximum`` and ``minimum`` in all their forms, and of ``multipleOf``."""
    if not known.types() & {INTEGER, FRACTION}:
        return []
    return (
        _bound_reasons(part, known, path, is_upper=True)
        + _bound_reasons(part, known, path, is_upper=False)
        + _factor_reasons(part, known, path)
    )


def text_reasons(part: Part, known: Written, path: str) -> Found:
    """Of lengths and patterns."""
    if "string" not in known.types():
        return []
    return (
        most_reasons(part, known, "maxLength", path=path, promised=_from_values(known, max))
        + least_reasons(part, known, "minLength", path=path, promised=_from_values(known, min))
        + _pattern_reasons(part, known, path)
    )


def most_reasons(part: Part, known: Written, word: str, *, path: str, promised: int | None = None) -> Found:
    """Of a limit upwards; ``promised`` is one that follows from something else."""
    limit, had = part.get(word), known.least(word)
    if limit is None or any(each is not None and each <= limit for each in (had, promised)):
        return []
    kind = f"{_kind(word)}_ADDED" if had is None else f"{_kind(word)}_DECREASED"
    return reason(
        kind, f"{path}/{word}", f"{word} is {limit} and was {_shown(had)}; leave it out, or no smaller"
    )


def least_reasons(part: Part, known: Written, word: str, *, path: str, promised: int | None = None) -> Found:
    """Of a limit downwards; ``promised`` is one that follows from something else."""
    limit, had = part.get(word), known.greatest(word)
    if not limit or any(each is not None and each >= limit for each in (had, promised)):
        return []
    kind = f"{_kind(word)}_ADDED" if had is None else f"{_kind(word)}_INCREASED"
    return reason(
        kind, f"{path}/{word}", f"{word} is {limit} and was {_shown(had)}; leave it out, or no larger"
    )


def _kind(word: str) -> str:
    """``maxLength`` as ``MAX_LENGTH``."""
    return "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in word)


def _shown(value: Any) -> str:
    return "not there" if value is None else str(value)


def _from_values(known: Written, choose: Callable[[list[int]], int]) -> int | None:
    """The longest or shortest of the texts that are listed."""
    values = known.values()
    texts = [len(value) for value in values or () if isinstance(value, str)]
    return choose(texts) if texts else None


def _pattern_reasons(part: Part, known: Written, path: str) -> Found:
    pattern, had = part.get("pattern"), known.all("pattern")
    if pattern is None or pattern in had:
        return []
    # Whether one pattern accepts all that another one does is not looked into.
    kind = "PATTERN_CHANGED" if had else "PATTERN_ADDED"
    was = f"was {', '.join(map(repr, had))}" if had else "was not there"
    return reason(
        kind, f"{path}/pattern", f"the pattern is {pattern!r} and {was}; leave it out, or as it was"
    )


def _bound_reasons(part: Part, known: Written, path: str, *, is_upper: bool) -> Found:
    limit = _bound(part, is_upper=is_upper)
    if limit is None:
        return []
    had = [bound for each in known.parts if (bound := _bound(each, is_upper=is_upper)) is not None]
    promised = [*had, *_listed_bound(known, is_upper=is_upper)]
    if any(_is_within(each, limit, is_upper=is_upper) for each in promised):
        return []
    name = "maximum" if is_upper else "minimum"
    word = f"exclusive{name.capitalize()}" if limit[1] else name
    changed = "DECREASED" if is_upper else "INCREASED"
    kind = f"{_kind(word)}_{changed if had else 'ADDED'}"
    was = float(min(had)[0] if is_upper else max(had)[0]) if had else None
    wider = "no smaller" if is_upper else "no larger"
    message = f"{word} is {float(limit[0]):g} and was {_shown(was)}; leave it out, or {wider}"
    return reason(kind, f"{path}/{word}", message)


def _bound(part: Part, *, is_upper: bool) -> Bound | None:
    """The tightest limit of a part; in draft 4 ``exclusiveMaximum`` is true or false."""
    word = "maximum" if is_upper else "minimum"
    exclusive = part.get(f"exclusive{word.capitalize()}")
    bounds: list[Bound] = []
    if part.get(word) is not None:
        bounds.append((exact(part.get(word)), exclusive is True))
    if exclusive is not None and not isinstance(exclusive, bool):
        bounds.append((exact(exclusive), True))
    if is_upper:
        return min(bounds, key=lambda each: (each[0], not each[1]), default=None)
    return max(bounds, default=None)


def _listed_bound(known: Written, *, is_upper: bool) -> list[Bound]:
    values = known.values()
    numbers = [exact(value) for value in values or () if type_of(value) in (INTEGER, FRACTION)]
    return [(max(numbers) if is_upper else min(numbers), False)] if numbers else []


def _is_within(had: Bound, limit: Bound, *, is_upper: bool) -> bool:
    if had[0] == limit[0]:
        return had[1] or not limit[1]
    return had[0] < limit[0] if is_upper else had[0] > limit[0]


def _factor_reasons(part: Part, known: Written, path: str) -> Found:
    if part.get("multipleOf") is None:
        return []
    factor, had = exact(part.get("multipleOf")), [exact(each) for each in known.all("multipleOf")]
    if FRACTION not in known.types():
        had.append(Fraction(1))
    if any((each / factor).denominator == 1 for each in had):
        return []
    given = known.all("multipleOf")
    kind = "MULTIPLE_OF_CHANGED" if given else "MULTIPLE_OF_ADDED"
    if given and any((factor / exact(each)).denominator == 1 for each in given):
        kind = "MULTIPLE_OF_EXPANDED"
    was = _shown(given[0] if given else None)
    message = f"multipleOf is {float(factor):g} and was {was}; leave it out, or a divisor"
    return reason(kind, f"{path}/multipleOf", message)
