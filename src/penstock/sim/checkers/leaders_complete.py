"""Whoever leads has everything that was ever committed before (I3): no acknowledged record is missing."""

from collections.abc import Iterator

from penstock.sim.checkers.committed import Committed
from penstock.sim.checkers.watching import Look


class LeadersComplete:
    """Compares each leader's log with what was committed up to its epoch."""

    rule = "leaders have everything that is committed"

    def __init__(self) -> None:
        self._committed = Committed()

    def look(self, look: Look) -> Iterator[str]:
        """Take in what is committed, then look at the leaders."""
        self._committed.note(look.partitions)
        for view in look.partitions:
            if not view.is_leader:
                continue
            committed = self._committed.up_to(view.key, view.leader_epoch)
            if view.log_end_offset < committed:
                yield (
                    f"{view.node} leads {view.name} in epoch {view.leader_epoch} and ends at "
                    f"{view.log_end_offset}, but everything below {committed} was committed"
                )
