"""Nothing is committed while fewer are in sync than ``min.insync.replicas`` asks for (I9)."""

from collections.abc import Iterator

from penstock.sim.checkers.watching import Look, PartitionView, Place


class EnoughInSync:
    """Remembers leaders that had too few beside them."""

    rule = "too few in sync commit nothing"

    def __init__(self) -> None:
        self._short: dict[Place, PartitionView] = {}

    def look(self, look: Look) -> Iterator[str]:
        """Compare leaders about which nothing was decided since the last look."""
        short = {}
        for view in look.partitions:
            if not view.is_leader or view.in_sync_count >= view.in_sync_min:
                continue
            before = self._short.get(view.place)
            short[view.place] = view
            is_same = before is not None and before.partition_epoch == view.partition_epoch
            if before is not None and is_same and view.high_watermark > before.high_watermark:
                yield (
                    f"{view.node} moved {view.name} from {before.high_watermark} to {view.high_watermark} "
                    f"with {view.in_sync_count} in sync, where {view.in_sync_min} must be"
                )
        self._short = short
