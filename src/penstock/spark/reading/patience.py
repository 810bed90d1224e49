"""Waiting out what passes by itself: growing pauses, and an end to them."""

import time

from penstock.model.error_codes import RETRIABLE
from penstock.spark.options.client_settings import ClientSettings
from penstock.wire_client.errors import (
    BrokenConnectionError,
    RefusedError,
    UnreachableError,
    WireClientError,
)


def passes(error: WireClientError) -> bool:
    """Whether the same question may well be answered a moment later, perhaps by another broker."""
    if isinstance(error, RefusedError):
        return error.code in RETRIABLE
    return isinstance(error, UnreachableError | BrokenConnectionError)


class Patience:
    """Pauses between attempts, each longer than the last, until they take too long together."""

    def __init__(self, client: ClientSettings, *, limit_ms: int) -> None:
        self._backoff_ms = client.backoff_ms
        self._backoff_max_ms = client.backoff_max_ms
        self._limit_ms = limit_ms
        self.renew()

    def renew(self) -> None:
        """Something worked: begin anew."""
        self._deadline = time.monotonic() + self._limit_ms / 1000
        self._pause_ms = self._backoff_ms

    def pause(self, problem: Exception) -> None:
        """Wait a little, or raise ``problem`` if there is no more time."""
        left_ms = (self._deadline - time.monotonic()) * 1000
        if left_ms <= 0:
            raise problem
        time.sleep(min(self._pause_ms, left_ms) / 1000)
        self._pause_ms = min(2 * self._pause_ms, self._backoff_max_ms)
