"""Those who wait for an offset to be passed, oldest first."""

from bisect import bisect_right
from collections import deque
from operator import itemgetter
from typing import Protocol

from penstock.model.error_codes import ErrorCode


class Waiter(Protocol):
    """Whoever wants to know that an offset is safe."""

    def settle(self, code: ErrorCode) -> None:
        """It is, or never will be."""


class OffsetWaiters:
    """Appends happen in offset order, so the waiters for one partition are sorted almost by construction.

    Only those come out of order who wait for what was appended before: with a batch that is a duplicate.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Waiter]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, last_offset: int, waiter: Waiter) -> None:
        """Settle the waiter once everything up to and including ``last_offset`` is safe."""
        waiting = self._waiting
        if waiting and waiting[-1][0] > last_offset:
            waiting.insert(bisect_right(waiting, last_offset, key=itemgetter(0)), (last_offset, waiter))
        else:
            waiting.append((last_offset, waiter))

    def pass_offset(self, end_offset: int) -> None:
        """Everything below ``end_offset`` is safe now."""
        waiting = self._waiting
        while waiting and waiting[0][0] < end_offset:
            waiting.popleft()[1].settle(ErrorCode.NONE)

    def fail(self, code: ErrorCode) -> None:
        """Nothing more will become safe: tell everybody."""
        waiting, self._waiting = self._waiting, deque()
        for _, waiter in waiting:
            waiter.settle(code)
