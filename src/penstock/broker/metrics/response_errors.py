"""The error codes in an answer, wherever it has them: at the top, or one for each of its parts.

Which fields to look at is worked out once for each kind of struct; a kind that has no error anywhere below is
not looked into at all.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from penstock.wire.schema import Struct

_ERROR_FIELD = "error_code"


class _Plan(NamedTuple):
    """What to look at in a struct of one kind."""

    has_error: bool
    arrays: tuple[str, ...]
    structs: tuple[str, ...]


def response_errors(response: Struct) -> Iterator[int]:
    """Every error code that is not 0."""
    plan = _plan(type(response))
    if plan is not None:
        yield from _errors(response, plan)


def _errors(found: Any, plan: _Plan) -> Iterator[int]:
    if plan.has_error and found.error_code:
        yield found.error_code
    for name in plan.structs:
        inner = getattr(found, name)
        if inner is not None:
            yield from response_errors(inner)
    for name in plan.arrays:
        for element in getattr(found, name) or ():
            yield from response_errors(element)


@cache
def _plan(kind: type[Struct]) -> _Plan | None:
    """None where there is nothing to find. No struct of ours contains its own kind."""
    nested = {
        name: field
        for name, field in kind.fields.items()
        if isinstance(field.kind, type) and issubclass(field.kind, Struct) and _plan(field.kind) is not None
    }
    plan = _Plan(
        has_error=_ERROR_FIELD in kind.fields,
        arrays=tuple(name for name, field in nested.items() if field.is_array),
        structs=tuple(name for name, field in nested.items() if not field.is_array),
    )
    return plan if any(plan) else None
