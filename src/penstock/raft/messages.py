"""What nodes say to each other, as the machine sees it; ``wire_form`` turns it into frames and back.

Everything may be lost, doubled, delayed or overtaken. Whoever hears a message must be able to tell from it
alone whether it still means anything: hence the term in all, and the ``sequence`` that answers give back.
"""

from dataclasses import dataclass
from typing import TypeAlias

from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.replica import ReplicaKey
from penstock.raft.voters import VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRequest:
    """Will you vote for me; or, as a pre-vote, would you?"""

    sender: ReplicaKey
    target: ReplicaKey
    #: The candidate's own; of a pre-vote, the one before the term it would stand in.
    term: int
    sequence: int
    #: Of the candidate's last entry, and where its log ends.
    last_term: int
    end_offset: int
    is_pre_vote: bool = False
    #: The leader asked for this election: nobody needs to defend it.
    is_handover: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResponse:
    """Yes or no."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    sequence: int
    is_granted: bool
    is_pre_vote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendEntries:
    """The leader's entries from ``offset`` on, or none: then it only says that it leads."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    sequence: int
    offset: int
    #: Of the entry before ``offset``: only who has the same there may append (section 5.3).
    previous_term: int
    #: How far the leader's log is committed.
    commit_offset: int
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendResponse:
    """On disk up to ``offset``; or refused, with a place to try instead."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    sequence: int
    is_accepted: bool
    #: Accepted: everything below equals the leader's log and is on disk. Refused: the logs differ at the
    #: place asked about, and may agree here.
    offset: int = 0
    #: Refused: of the entry before ``offset``.
    hint_term: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSnapshot:
    """A piece of the leader's snapshot, for who needs entries that are no longer there."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    sequence: int
    snapshot_id: SnapshotId
    #: In force at the end of the snapshot.
    voters: VoterSet
    #: Of the data in the snapshot.
    position: int
    size_bytes: int
    data: bytes

    @property
    def is_last(self) -> bool:
        """Whether it reaches the snapshot's end."""
        return self.position + len(self.data) >= self.size_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotResponse:
    """Which piece comes next; none when the snapshot is installed."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    sequence: int
    snapshot_id: SnapshotId
    position: int
    is_installed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutNow:
    """Stand for election at once: the leader hands over (dissertation, section 3.10)."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveRequest:
    """Feed me: I have no vote, so you may not know of me. To ``NOBODY``: to whoever can be reached."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveResponse:
    """I do not lead; this one does, as far as I know."""

    sender: ReplicaKey
    target: ReplicaKey
    term: int
    leader: ReplicaKey | None


Answered: TypeAlias = VoteResponse | AppendResponse | SnapshotResponse | ObserveResponse
"""What follows a question."""

Message: TypeAlias = VoteRequest | AppendEntries | InstallSnapshot | TimeoutNow | ObserveRequest | Answered
