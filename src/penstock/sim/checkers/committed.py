"""The true high watermark of each partition: how far anybody has ever called it committed."""

from collections.abc import Iterable

from penstock.sim.checkers.watching import Key, PartitionView


class Committed:
    """Remembers the highest high watermark of each partition, and the epoch in which it was seen."""

    def __init__(self) -> None:
        self._seen: dict[Key, dict[int, int]] = {}

    def note(self, views: Iterable[PartitionView]) -> None:
        """Take in what everybody says now, leader or not."""
        for view in views:
            epochs = self._seen.setdefault(view.key, {})
            epochs[view.leader_epoch] = max(view.high_watermark, epochs.get(view.leader_epoch, 0))

    def up_to(self, key: Key, leader_epoch: int) -> int:
        """What was committed in this epoch and those before it."""
        epochs = self._seen.get(key, {})
        return max((offset for epoch, offset in epochs.items() if epoch <= leader_epoch), default=0)
