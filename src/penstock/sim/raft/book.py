"""What an onlooker who sees everything remembers, and the rules compare with."""

from penstock.raft.entry import Entry
from penstock.raft.replica import ReplicaKey


class Book:
    """One run, as seen from above."""

    def __init__(self) -> None:
        #: Who led in a term.
        self.leaders: dict[int, ReplicaKey] = {}
        #: What was ever written at an offset in a term: the entry, and the term of the one before it.
        self.written: dict[tuple[int, int], tuple[Entry, int]] = {}
        #: What was committed, by offset, and in order.
        self.committed: dict[int, Entry] = {}
        self.committed_end = 0
        self.committed_term = 0
        #: What a state machine is that has applied everything below an offset.
        self.digests: dict[int, int] = {0: 0}
        #: How far clients know that something is committed.
        self.acknowledged_end = 0
        self.acknowledged = 0
        #: Disks that are gone, with what they held.
        self.lost_disks: set[ReplicaKey] = set()
