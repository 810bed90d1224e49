"""A Produce request between its append and its answer."""

import asyncio
from collections.abc import Callable

from penstock.model.error_codes import ErrorCode


class ParkedProduce:
    """Counts down the partitions that are not safe yet; answers when the last one is, or when time is up.

    The answer is the list of partition answers, in request order, filled in as outcomes arrive.
    """

    __slots__ = ("_answer", "_codes", "_is_answered", "_timer", "_waiting_count")

    def __init__(self, partition_count: int, answer: Callable[[list[ErrorCode]], None]) -> None:
        self._codes: list[ErrorCode | None] = [None] * partition_count
        self._waiting_count = partition_count
        self._answer = answer
        self._timer: asyncio.TimerHandle | None = None
        self._is_answered = False

    def settle(self, index: int, code: ErrorCode) -> None:
        """One partition's outcome is known."""
        if self._is_answered:
            return
        self._codes[index] = code
        self._waiting_count -= 1
        if not self._waiting_count:
            self._finish()

    def start_timer(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Answer after this time at the latest, naming what was not safe by then."""
        if not self._is_answered:
            self._timer = loop.call_later(seconds, self._finish)

    def _finish(self) -> None:
        self._is_answered = True
        if self._timer is not None:
            self._timer.cancel()
        self._answer([ErrorCode.REQUEST_TIMED_OUT if code is None else code for code in self._codes])
