"""Those who wait for an offset to be passed, oldest first."""

from collections import deque
from typing import Protocol

from penstock.model.error_codes import ErrorCode


class Waiter(Protocol):
    """Whoever wants to know that an offset is safe."""

    def settle(self, code: ErrorCode) -> None:
        """It is, or never will be."""


class OffsetWaiters:
    """Appends happen in offset order, so the waiters for one partition are sorted by construction."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Waiter]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, last_offset: int, waiter: Waiter) -> None:
        """Settle the waiter once everything up to and including ``last_offset`` is safe."""
        self._waiting.append((last_offset, waiter))

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
