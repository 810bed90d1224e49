"""The ends of a log stand in order: start, last stable, high watermark, flushed, end."""

from collections.abc import Iterator

from penstock.sim.checkers.watching import Look


class OffsetsOrdered:
    """Looks at each partition by itself."""

    rule = "the ends of a log are in order"

    def look(self, look: Look) -> Iterator[str]:
        """Compare neighbours."""
        for view in look.partitions:
            ends = (
                view.log_start_offset,
                view.last_stable_offset,
                view.high_watermark,
                view.flushed_offset,
                view.log_end_offset,
            )
            if list(ends) != sorted(ends):
                yield f"{view.name} on {view.node}: start, stable, high watermark, flushed, end are {ends}"
