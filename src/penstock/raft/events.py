"""What a node can be told. Tokens are chosen by the shell and come back in the answers of ``output``."""

from dataclasses import dataclass
from typing import TypeAlias

from penstock.raft.entry import Payload, SnapshotId
from penstock.raft.messages import Message
from penstock.raft.replica import ReplicaKey, Voter


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A message arrived, from a peer of this cluster and for this node."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """It is later now; asked for by ``next_deadline``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderUnreachable:
    """The way on which a leader spoke has broken: its process has ended, perhaps."""

    leader: ReplicaKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Persisted:
    """Everything ordered up to the output of this number is on disk."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBatch:
    """A batch to append: its bytes, and how many offsets it takes."""

    payload: Payload
    record_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Somebody wants these batches in the log, in this order, all or none."""

    token: int
    batches: tuple[NewBatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequested:
    """Somebody wants to read what is committed by now, and not what was (dissertation, section 6.4)."""

    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRequested:
    """Let another voter lead."""

    token: int
    #: None: whoever has most of the log.
    target: ReplicaKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddVoterRequested:
    """Give an observer a vote, once it has caught up."""

    token: int
    voter: Voter


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveVoterRequested:
    """Take a vote away; the leader's own, too."""

    token: int
    key: ReplicaKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTaken:
    """A snapshot of committed entries is on disk, and entries below ``log_start_offset`` may go."""

    snapshot_id: SnapshotId
    #: ≤ the snapshot's end: what is kept below it spares slow followers the snapshot.
    log_start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotInstalled:
    """The snapshot that was ordered to be installed is on disk and in force."""

    snapshot_id: SnapshotId


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotUnreadable:
    """The snapshot that was ordered to be installed is damaged: fetch it again."""

    snapshot_id: SnapshotId


Event: TypeAlias = (
    MessageReceived
    | TimePassed
    | LeaderUnreachable
    | Persisted
    | Proposed
    | ReadRequested
    | TransferRequested
    | AddVoterRequested
    | RemoveVoterRequested
    | SnapshotTaken
    | SnapshotInstalled
    | SnapshotUnreadable
)
