"""If a node has applied an entry at an offset, no other ever applies a different one there (figure 3)."""

import zlib

from penstock.raft.entry import Entry
from penstock.sim.raft.book import Book
from penstock.sim.raft.outcome import BrokenPromise
from penstock.sim.raft.process import Process


class StateMachinesAgree:
    """All state machines are one, entry by entry and after snapshots."""

    name = "state machines agree"

    def applied(self, book: Book, process: Process, entry: Entry) -> None:
        """Compare an entry with what others applied there; the first one writes it down."""
        known = book.committed.setdefault(entry.offset, entry)
        if known is not entry and known != entry:
            raise BrokenPromise(
                self.name,
                f"{process.key} applies {bytes(entry.payload)!r} of term {entry.term} at offset "
                f"{entry.offset}, others applied {bytes(known.payload)!r} of term {known.term}",
            )
        if entry.offset == book.committed_end:
            digest = book.digests[entry.offset]
            book.digests[entry.end_offset] = zlib.crc32(bytes(entry.payload), digest)
            book.committed_end, book.committed_term = entry.end_offset, entry.term
        self.loaded(book, process)

    def loaded(self, book: Book, process: Process) -> None:
        """Compare a state with that of others at the same offset."""
        expected = book.digests.get(process.applied_offset)
        if expected != process.state_digest:
            raise BrokenPromise(
                self.name,
                f"{process.key} is in state {process.state_digest:08x} at offset {process.applied_offset}, "
                f"others were in {expected!r}",
            )
