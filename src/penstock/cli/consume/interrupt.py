"""Ctrl-C between two records, not in the middle of one.

What was printed must be known before it can be committed, so the first interrupt only asks to stop. Whoever
cannot wait, since a pipe takes nothing more, is interrupted by the second.
"""

import signal
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupt:
    """Notes the first interrupt within a ``with`` block; an ignored one stays ignored."""

    def __init__(self) -> None:
        self.is_asked = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._previous = signal.getsignal(signal.SIGINT)
        if self._previous != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._previous)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_asked:
            raise KeyboardInterrupt
        self.is_asked = True
