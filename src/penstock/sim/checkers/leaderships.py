"""Who took itself for the leader of what, and for how long: what excuses those who asked a leader alone."""

from collections.abc import Mapping, Sequence

from penstock.sim.checkers.evidence import Leadership
from penstock.sim.checkers.watching import Look

NOBODY = ""


class Leaderships:
    """Remembers every leader of every partition, by epoch."""

    def __init__(self, look_seconds: float) -> None:
        self._look_seconds = look_seconds
        #: When each was last seen, by partition.
        self._seen: dict[str, dict[tuple[int, str], float]] = {}

    def look(self, look: Look) -> None:
        """Note who leads now; epochs without a leader are noted too, so that a gap means an unseen one."""
        for view in look.partitions:
            if view.is_leader:
                self._note(view.name, view.leader_epoch, view.node, look.at)
        for known in look.metadata:
            for topic in known.image.topics.values():
                for index, partition in enumerate(topic.partitions):
                    if not partition.has_leader:
                        self._note(f"{topic.name}-{index}", partition.leader_epoch, NOBODY, look.at)

    def of_partitions(self) -> Mapping[str, Sequence[Leadership]]:
        """Everything that was seen, in the order of epochs."""
        return {
            name: tuple(
                Leadership(leader_epoch=epoch, node=node, until=at + self._look_seconds)
                for (epoch, node), at in sorted(seen.items())
            )
            for name, seen in self._seen.items()
        }

    def _note(self, name: str, leader_epoch: int, node: str, at: float) -> None:
        self._seen.setdefault(name, {})[leader_epoch, node] = at
