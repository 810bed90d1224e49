"""Waiting between attempts, each time twice as long, until a deadline."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from penstock.client.errors import PenstockClientError

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait: ``first_ms``, doubled every time up to ``most_ms``, each with a fifth of chance."""

    first_ms: float = 100
    most_ms: float = 1000

    def seconds(self, attempt: int) -> float:
        """The pause after a failed attempt; the first attempt is 0."""
        pause_ms = min(self.most_ms, self.first_ms * 2.0 ** min(attempt, 30))
        return pause_ms / 1000 * random.uniform(0.8, 1.2)


def retried(
    call: Callable[[float], Answer],
    *,
    seconds: float,
    backoff: Backoff,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """What ``call``, given the seconds that are left, returns; after a retriable error it is called again.

    The last error is raised when it is not retriable, or when there is no time for another attempt.
    """
    deadline = time.monotonic() + seconds
    attempt = 0
    while True:
        left = max(0.001, deadline - time.monotonic())
        try:
            return call(left)
        except PenstockClientError as error:
            pause = backoff.seconds(attempt)
            if not error.is_retriable or time.monotonic() + pause >= deadline:
                raise
            sleep(pause)
            if time.monotonic() >= deadline:  # Without time, another attempt would only hide the error.
                raise
            attempt += 1
