"""A leader epoch belongs to one broker: nobody else ever takes itself for its leader."""

from collections.abc import Iterator

from penstock.sim.checkers.watching import Key, Look


class OneLeader:
    """Remembers who led each epoch of each partition."""

    rule = "a leader epoch has one leader"

    def __init__(self) -> None:
        self._leaders: dict[tuple[Key, int], str] = {}

    def look(self, look: Look) -> Iterator[str]:
        """Compare with everybody who was seen to lead."""
        for view in look.partitions:
            if not view.is_leader:
                continue
            known = self._leaders.setdefault((view.key, view.leader_epoch), view.node)
            if known != view.node:
                yield f"{known} and {view.node} both led {view.name} in epoch {view.leader_epoch}"
