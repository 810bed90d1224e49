"""Headers of librdkafka's messages, out of a binding that loses them over a name that is not UTF-8.

Brokers take any bytes for a name, so that anybody who may send can leave such a record in a topic. The
binding then returns its headers and raises at once, and has holes where names should be: whoever looks at
those, or asks the same message again, takes the process along.
"""

from operator import methodcaller
from typing import Any

_UNREADABLE: list[tuple[str, bytes | None]] = [("", None)]

_headers_of = methodcaller("headers")
"""Not a plain call: once Python 3.11 has seen enough of those it no longer checks for what they raised."""


def readable_headers(raw: Any) -> list[tuple[str, bytes | None]] | None:
    """Names and values; None if a name is not UTF-8, however often it is asked."""
    try:
        headers: list[tuple[str, bytes | None]] | None = _headers_of(raw)
    except (SystemError, UnicodeDecodeError) as error:
        if not isinstance(error.__cause__ or error, UnicodeDecodeError):
            raise
        raw.set_headers(_UNREADABLE)
        return None
    return None if headers is _UNREADABLE else headers or []
