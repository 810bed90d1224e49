"""The high watermark never goes back (I1): not while a broker runs, and not over a restart."""

from collections.abc import Iterable, Iterator

from penstock.sim.checkers.watching import PartitionView


class HighWatermarkForward:
    """Remembers how far each partition was on each broker."""

    rule = "the high watermark never goes back"

    def __init__(self) -> None:
        self._seen: dict[tuple[str, bytes, str], int] = {}

    def look(self, views: Iterable[PartitionView]) -> Iterator[str]:
        """Compare with the last look."""
        for view in views:
            place = view.node, view.topic_id, view.name
            before = self._seen.get(place, 0)
            if view.high_watermark < before:
                yield f"{view.name} on {view.node} went from {before} back to {view.high_watermark}"
            self._seen[place] = view.high_watermark
