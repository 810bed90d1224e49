"""A committed entry is present in the logs of the leaders for all higher terms (figure 3)."""

from collections.abc import Iterator

from penstock.raft.transition import Role
from penstock.sim.raft.book import Book
from penstock.sim.raft.invariants import Step


class LeaderCompleteness:
    """Looked at in the moment of an election: leaders only append."""

    name = "leaders have everything that is committed"

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Compare the last committed entry; those before it follow from log matching."""
        if not any(transition.after is Role.LEADER for transition in step.output.transitions):
            return
        node = step.process.node
        term = node.log.terms.before(book.committed_end)
        if term != book.committed_term and node.term > book.committed_term:
            yield (
                f"{node.key} leads in term {node.term} with term {term} before offset {book.committed_end}, "
                f"where term {book.committed_term} is committed"
            )
