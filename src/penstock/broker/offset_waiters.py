"""Callbacks that wait for an offset to be passed, oldest first."""

from collections import deque
from collections.abc import Callable

from penstock.model.error_codes import ErrorCode

Callback = Callable[[ErrorCode], None]


class OffsetWaiters:
    """Appends happen in offset order, so the waiters for one partition are sorted by construction."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Callback]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, last_offset: int, callback: Callback) -> None:
        """Call back once everything up to and including ``last_offset`` is safe."""
        self._waiting.append((last_offset, callback))

    def pass_offset(self, end_offset: int) -> None:
        """Everything below ``end_offset`` is safe now."""
        waiting = self._waiting
        while waiting and waiting[0][0] < end_offset:
            waiting.popleft()[1](ErrorCode.NONE)

    def fail(self, code: ErrorCode) -> None:
        """Nothing more will become safe: answer everybody."""
        waiting, self._waiting = self._waiting, deque()
        for _, callback in waiting:
            callback(code)
