"""A high watermark never goes back (I1) while a process has the partition.

Over a restart it may: a process begins with what its predecessor wrote down of it. That nothing committed is
lost by that is for ``committed_kept`` to see.
"""

from collections.abc import Iterator

from penstock.sim.checkers.watching import Look, Place


class HighWatermarkForward:
    """Remembers how far each partition was in each process."""

    rule = "the high watermark never goes back"

    def __init__(self) -> None:
        self._seen: dict[Place, int] = {}

    def look(self, look: Look) -> Iterator[str]:
        """Compare with the last look."""
        for view in look.partitions:
            before = self._seen.get(view.place, 0)
            if view.high_watermark < before:
                yield f"{view.name} on {view.node} went from {before} back to {view.high_watermark}"
            self._seen[view.place] = view.high_watermark
