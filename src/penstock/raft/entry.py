"""Entries of the log, and what stands for those that were dropped behind a snapshot.

An entry is a record batch: it covers as many offsets as it has records, all of one term, and is written, sent
and cut off as a whole. The machine looks at none of its bytes.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from penstock.raft.replica import ReplicaKey
from penstock.raft.voters import VoterSet

Payload = bytes | bytearray | memoryview


class EntryKind(StrEnum):
    """What an entry is to the machine."""

    DATA = "data"
    #: The first entry of a leader: with it, everything before it can be committed (section 8 of the paper).
    LEADER_CHANGE = "leader change"
    #: Another set of voters, in force from the moment it is in the log (section 6).
    VOTERS = "voters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One batch at its place."""

    offset: int
    #: Where the next entry goes; > offset.
    end_offset: int
    term: int
    payload: Payload = b""
    kind: EntryKind = EntryKind.DATA
    #: Of a VOTERS entry, else None.
    voters: VoterSet | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of the batch."""
        return len(self.payload)


class SnapshotId(NamedTuple):
    """A snapshot by the first offset that is not in it and the term of the last one that is."""

    end_offset: int
    term: int

    def __str__(self) -> str:
        return f"{self.end_offset}-{self.term}"


NO_SNAPSHOT = SnapshotId(0, 0)


class ControlEntries(Protocol):
    """Makes the bytes of the entries that the machine itself writes. A seam: the machine knows no format."""

    def leader_change(self, leader: ReplicaKey, voters: VoterSet) -> Payload:
        """A batch of one record that says who leads."""

    def voters(self, voters: VoterSet) -> Payload:
        """A batch of one record that says who votes."""
