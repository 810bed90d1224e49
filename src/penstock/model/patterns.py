"""Regular expressions that strangers send: which topics to read, which clients or ids to choose.

They are RE2's (as Kafka's are RE2/J's): matching takes time linear in the text, whatever the pattern. Its
length and the memory that it may use have bounds. The library is only loaded by brokers that are sent one.
"""

from collections.abc import Callable
from typing import TypeAlias

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import PATTERN_BYTES_MAX, PATTERN_MEMORY_BYTES_MAX

Matcher: TypeAlias = Callable[[str], bool]
"""Whether the whole of a text matches."""

CompilePattern: TypeAlias = Callable[[str], Matcher]
"""Makes a pattern's matcher, or raises INVALID_REGULAR_EXPRESSION."""


def compile_pattern(pattern: str) -> Matcher:
    """The matcher of a pattern; ``ApiError`` with INVALID_REGULAR_EXPRESSION if it has none."""
    size_bytes = len(pattern.encode())
    if size_bytes > PATTERN_BYTES_MAX:
        raise _invalid(f"it has {size_bytes} bytes, and {PATTERN_BYTES_MAX} are allowed")
    import re2  # Here, so that brokers which never see a pattern start without it.

    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES_MAX
    options.log_errors = False
    options.never_capture = True
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise _invalid(_reason(error)) from error

    def matches(text: str) -> bool:
        return compiled.fullmatch(text) is not None

    return matches


def _reason(error: Exception) -> str:
    """What RE2 says, which it says in bytes."""
    (reason,) = error.args or (b"",)
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _invalid(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"The regular expression is not valid: {reason}.")
