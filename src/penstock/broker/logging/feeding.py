"""Marks what happens because logs are being written, so that it is never written as more logs.

A context variable follows the feed through everything it sets going: its tasks, the connections they open,
and what those call back. An event that is logged in there stays out of the topic.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IS_FEEDING = ContextVar("penstock_is_feeding_logs", default=False)


def is_feeding() -> bool:
    """Whether what happens now happens for the sake of the log topic."""
    return _IS_FEEDING.get()


@contextmanager
def feeding() -> Iterator[None]:
    """Everything within the block, and everything begun there, is done for the log topic."""
    token = _IS_FEEDING.set(True)
    try:
        yield
    finally:
        _IS_FEEDING.reset(token)
