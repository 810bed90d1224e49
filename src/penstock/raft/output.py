"""What a node answers with: what to write, what to send, what is committed. And what must wait for what.

The contract between a node and the shell that drives it:

1. The shell gives the node an event and the time, and gets an ``Output``. It calls again not later than at
   ``next_deadline``. Before the next event it carries out 2.
2. In memory: ``truncate_to``, then ``append``, to the log; ``commit_offset`` is noted. From here on the log
   must be able to return these entries to the machine (``LogReader``). The bytes of entries may be stamped
   with offset and term now, before anything is sent.
3. ``send_now`` may leave at once, whatever the disk does: a leader's entries travel to the followers while
   its own disk writes them.
4. If ``number`` is set, there is something to be made durable: ``persist``, ``truncate_to``, ``append``. The
   orders of outputs are carried out one after the other; many may share one flush. When an output's orders
   are on disk, and those of all before it, the shell says so: ``Persisted(number)``. Until then a leader does
   not count itself, and a candidate has no vote from itself. A flush that fails is not reported: the process
   ends.
5. ``send_after_persist`` leaves when everything ordered so far is on disk, by this output *and by earlier
   ones*. An output without orders may confirm what an earlier one is still writing.
6. ``commit_offset``: everything below is committed and can be applied, in order. It does not wait for the
   disk: a majority has it on theirs. After a restart it is only known again from a leader.
7. ``snapshot_orders`` are carried out in order, after the disk orders of all outputs before. ``InstallOrder``
   ends in one of two events, ``SnapshotInstalled`` or ``SnapshotUnreadable``; until then the node takes no
   entries.
8. ``answers`` carry the tokens of the shell's own requests. ``Accepted`` is no promise: the request is done
   when its offset is committed while the log still has that term there.
9. ``transitions`` are to be logged, each with its cause.

What must be durable when the node starts again is in ``restored``.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.hard_state import HardState
from penstock.raft.messages import Message
from penstock.raft.replica import ReplicaKey
from penstock.raft.transition import Transition
from penstock.raft.voters import VoterSet


class Refusal(StrEnum):
    """Why a request was not taken up."""

    NOT_LEADER = "this node does not lead"
    LEADERSHIP_LOST = "this node leads no longer"
    HANDING_OVER = "the leader is handing over"
    OVERLOADED = "too much is waiting to be committed"
    NEW_LEADER = "the leader has committed nothing in its own term yet"
    CHANGE_PENDING = "another change of voters is not committed yet"
    NOT_A_VOTER = "it is not a voter"
    ALREADY_A_VOTER = "that node is a voter"
    LAST_VOTER = "somebody must remain"
    QUORUM_AT_RISK = "too few of the voters that would remain answer"
    NOT_FOLLOWING = "it does not follow this leader"
    NOT_CAUGHT_UP = "it did not catch up in time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """It is in the leader's log, at these offsets."""

    token: int
    offset: int
    end_offset: int
    term: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing was changed."""

    token: int
    reason: Refusal
    #: Whom to ask instead, if known.
    leader: ReplicaKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReady:
    """Whoever has applied everything below ``offset`` sees all that was committed when it was asked for."""

    token: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The successor was told to stand; the next leader's first entry will say how it went."""

    token: int
    target: ReplicaKey


Answer: TypeAlias = Accepted | Refused | ReadReady | HandedOver


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePiece:
    """Put this piece of a snapshot into a file beside; a piece at position 0 begins it anew."""

    snapshot_id: SnapshotId
    position: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOrder:
    """The pieces are complete: flush and rename the file, and let the log begin at its end.

    With ``keeps_log`` the log agrees with the snapshot and stays, else all of it goes. A crash between the
    two leaves a snapshot that is ahead of the log: the next start then finishes the work.
    """

    snapshot_id: SnapshotId
    voters: VoterSet
    keeps_log: bool


SnapshotOrder: TypeAlias = WritePiece | InstallOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What follows from one event."""

    #: Ascending from 1; 0 when nothing needs the disk.
    number: int = 0
    persist: HardState | None = None
    truncate_to: int | None = None
    append: tuple[Entry, ...] = ()
    send_now: tuple[Message, ...] = ()
    send_after_persist: tuple[Message, ...] = ()
    commit_offset: int | None = None
    snapshot_orders: tuple[SnapshotOrder, ...] = ()
    answers: tuple[Answer, ...] = ()
    transitions: tuple[Transition, ...] = ()


class OutputDraft:
    """Gathers an output while an event is handled."""

    __slots__ = (
        "answers",
        "append",
        "commit_offset",
        "persist",
        "send_after_persist",
        "send_now",
        "snapshot_orders",
        "transitions",
        "truncate_to",
    )

    def __init__(self) -> None:
        self.persist: HardState | None = None
        self.truncate_to: int | None = None
        self.append: list[Entry] = []
        self.send_now: list[Message] = []
        self.send_after_persist: list[Message] = []
        self.commit_offset: int | None = None
        self.snapshot_orders: list[SnapshotOrder] = []
        self.answers: list[Answer] = []
        self.transitions: list[Transition] = []

    @property
    def needs_disk(self) -> bool:
        """Whether something must be made durable."""
        return bool(self.append) or self.persist is not None or self.truncate_to is not None

    def finish(self, number: int) -> Output:
        """The output, to be followed by nothing."""
        return Output(
            number=number,
            persist=self.persist,
            truncate_to=self.truncate_to,
            append=tuple(self.append),
            send_now=tuple(self.send_now),
            send_after_persist=tuple(self.send_after_persist),
            commit_offset=self.commit_offset,
            snapshot_orders=tuple(self.snapshot_orders),
            answers=tuple(self.answers),
            transitions=tuple(self.transitions),
        )
