"""One thing of many in a request: refused for a reason, or done."""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError

Item = TypeVar("Item", bound=Hashable)


def duplicates(items: Iterable[Item]) -> frozenset[Item]:
    """What comes more than once; Kafka refuses all of its occurrences."""
    return frozenset(item for item, count in Counter(items).items() if count > 1)


def invalid_request(message: str) -> ApiError:
    """The request contradicts itself."""
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def message_of(error: ApiError) -> str | None:
    """The text for an answer's error message field."""
    return error.message or None
