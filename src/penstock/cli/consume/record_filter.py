"""Which records ``penstock consume`` prints: by key, by what their value holds, by time.

The pattern is RE2's: it looks at every byte once, so that no pattern makes reading a topic take for ever.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import Message

RecordFilter = Callable[["Message"], bool]


def compile_filter(*, key: str | None, pattern: str | None, until_ms: int | None) -> RecordFilter:
    """A function that says whether a record is wanted: it must satisfy everything that is given."""
    checks: list[RecordFilter] = []
    if key is not None:
        checks.append(_with_key(key.encode()))
    if until_ms is not None:
        checks.append(_before(until_ms))
    if pattern is not None:
        checks.append(_matching(_compile(pattern)))
    return lambda message: all(check(message) for check in checks)


def _with_key(key: bytes) -> RecordFilter:
    return lambda message: message.key() == key


def _before(until_ms: int) -> RecordFilter:
    return lambda message: message.timestamp()[1] < until_ms


def _matching(pattern: Any) -> RecordFilter:
    def matches(message: "Message") -> bool:
        value = message.value()
        return value is not None and pattern.search(value) is not None

    return matches


def _compile(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise UsageError(f"--grep {pattern!r} is no regular expression of RE2: {reason}.") from error
