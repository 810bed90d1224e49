"""How long to wait for what passes by itself, with pauses that grow.

A transaction that is just being completed takes milliseconds, a new leader seconds: so the first pause is
short and each is twice the one before.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.wire_client.errors import BrokenConnectionError, UnreachableError, WireClientError


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The whole time that may be spent on waiting, and the shortest and longest pause within it."""

    seconds_max: float = 60.0
    pause_seconds: float = 0.005
    pause_seconds_max: float = 0.5
    attempts_min: int = 1
    """Made however long each of them takes: one silent broker may use up all the time."""

    def attempts(self) -> Iterator[None]:
        """Once at once, then once after every pause; at least once when patience has just ended."""
        deadline = time.monotonic() + self.seconds_max
        pause = self.pause_seconds
        yield
        for count in itertools.count(1):
            left = deadline - time.monotonic()
            if left <= 0 and count >= self.attempts_min:
                return
            time.sleep(min(pause, max(left, self.pause_seconds)))
            pause = min(pause * 2, self.pause_seconds_max)
            yield


def ask_again(
    ask: Callable[[], Any],
    *,
    is_passing: Callable[[Any], bool],
    patience: Patience,
    after_trouble: Callable[[], None] = lambda: None,
) -> Any:
    """The answer of ``ask``, called again while it is a passing one or the connection breaks.

    When patience ends, the last answer is returned as it is, or the last breakage raised. What is asked must
    do no harm when it is carried out twice.
    """
    answer: Any = None
    problem: WireClientError | None = None
    for _ in patience.attempts():
        try:
            answer, problem = ask(), None
        except (BrokenConnectionError, UnreachableError) as error:
            problem = error
        else:
            if not is_passing(answer):
                break
        after_trouble()
    if problem is not None:
        raise problem
    return answer
