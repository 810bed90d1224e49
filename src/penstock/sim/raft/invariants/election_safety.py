"""At most one leader can be elected in a given term (figure 3)."""

from collections.abc import Iterator

from penstock.raft.transition import Role
from penstock.sim.raft.book import Book
from penstock.sim.raft.invariants import Step


class ElectionSafety:
    """One term, one leader."""

    name = "election safety"

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Look at who has become leader."""
        for transition in step.output.transitions:
            if transition.after is not Role.LEADER:
                continue
            key = step.process.key
            other = book.leaders.setdefault(transition.term, key)
            if other != key:
                yield f"{other} and {key} both led in term {transition.term}"
