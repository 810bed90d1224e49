"""If two logs have an entry with the same offset and term, they are identical up to it (figure 3).

By induction: an offset and term name one entry for ever, and one term before it.
"""

from collections.abc import Iterator

from penstock.sim.raft.book import Book
from penstock.sim.raft.invariants import Step


class LogMatching:
    """Every entry is what it is everywhere."""

    name = "logs match"

    def check(self, book: Book, step: Step) -> Iterator[str]:
        """Look at each entry that is appended."""
        terms = step.process.node.log.terms
        for entry in step.output.append:
            previous = terms.before(entry.offset)
            if previous is None:
                continue
            known, known_previous = book.written.setdefault((entry.offset, entry.term), (entry, previous))
            if known is not entry and (known != entry or known_previous != previous):
                yield (
                    f"{step.process.key} has {bytes(entry.payload)!r} after term {previous} at offset "
                    f"{entry.offset}, term {entry.term}; elsewhere it is {bytes(known.payload)!r} after term "
                    f"{known_previous}"
                )
