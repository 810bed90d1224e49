"""JSON in and out, as schemas are written in it: strict, bounded, and without space."""

import json
import math
from typing import Any

from penstock.model.limits import SCHEMA_NESTING_MAX
from penstock.schemas.errors import InvalidSchema


def load_json(text: str, what: str) -> Any:
    """The value of a JSON text; ``what`` it should be is said if it is none."""
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except ValueError as error:
        raise InvalidSchema(f"This is not the JSON of {what} ({error}): {text[:80]}") from error
    _check_characters(text)
    _check_nesting(value)
    return value


def dump_json(value: Any) -> str:
    """The shortest text of a value; other alphabets stay readable."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Half a character, which JSON can spell and no encoding can write, stays spelt.
    return text if _is_writable(text) else json.dumps(value, separators=(",", ":"))


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON and its readers have")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _check_characters(text: str) -> None:
    if not _is_writable(text):
        raise InvalidSchema(f"A schema holds half a character, which no file can: {text[:80]!a}")


def _check_nesting(value: Any) -> None:
    level = [value]
    for _ in range(SCHEMA_NESTING_MAX + 1):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return
    raise InvalidSchema(
        f"A schema is nested more than {SCHEMA_NESTING_MAX} deep; define the inner types by themselves."
    )


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
