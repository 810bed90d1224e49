"""Ctrl-C and SIGTERM ask a run to stop; the second one does not ask.

PySpark has a handler of its own that cancels whatever runs, so these have to be set after a session is there.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Notes the first signal within a ``with`` block."""

    def __init__(self) -> None:
        self.is_asked = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._previous = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True


@contextmanager
def kept_from_children() -> Iterator[None]:
    """Let processes that are started meanwhile never see Ctrl-C, which a terminal sends to all of them.

    Spark's Python workers would die of it in the middle of what they do. One that comes meanwhile counts
    afterwards.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
