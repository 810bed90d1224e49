"""The seam of blocking work: the broker asks here for what must not stop its loop.

A process has threads for it (``worker_threads``); a simulator has none, and lets time pass instead.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class BlockingWorkers(Protocol):
    """Runs blocking calls away from the loop, and answers on the loop."""

    def run(
        self, calls: Sequence[Callable[[], None]], done: Callable[[Sequence[BaseException | None]], None]
    ) -> None:
        """Run all calls, side by side where possible; then tell the loop how each of them ended."""

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run one blocking function and await its result."""
        ...

    def stop(self) -> None:
        """Let queued work end; nothing may be asked for afterwards."""
