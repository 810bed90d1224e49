"""A leader never overwrites or deletes entries in its log; it only appends new entries (figure 3)."""

from collections.abc import Iterator

from penstock.raft.transition import Role
from penstock.sim.raft.book import Book
from penstock.sim.raft.invariants import Step


class LeaderAppendOnly:
    """Whoever leads after a step has cut nothing in it."""

    name = "leaders only append"

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Look at what was cut."""
        node, cut = step.process.node, step.output.truncate_to
        if cut is not None and node.role is Role.LEADER:
            yield f"{node.key} leads in term {node.term} and cuts its log at {cut}"
