"""How far a leader has brought one other replica.

*Probing*: it is not known what the replica has; one question at a time until the logs are found to agree.
*Streaming*: they agree; entries go out without waiting for answers, up to a window. *Snapshot*: what the
replica needs is no longer in the log; pieces of the snapshot go instead, one at a time.
"""

from collections import deque
from enum import StrEnum
from typing import NamedTuple

from penstock.model.ids import Millis
from penstock.raft.entry import NO_SNAPSHOT, SnapshotId
from penstock.raft.replica import ReplicaKey
from penstock.raft.voters import NO_VOTERS, VoterSet


class Mode(StrEnum):
    """How a replica is fed."""

    PROBING = "probing"
    STREAMING = "streaming"
    SNAPSHOT = "snapshot"


class OutgoingSnapshot(NamedTuple):
    """A snapshot on its way, with the voters in force at its end."""

    snapshot_id: SnapshotId
    voters: VoterSet


NOTHING_OUTGOING = OutgoingSnapshot(NO_SNAPSHOT, NO_VOTERS)


class Progress:
    """One follower or observer, as its leader sees it."""

    __slots__ = (
        "answered_sequence",
        "caught_up_at",
        "commit_sent",
        "first_sequence",
        "heard_at",
        "in_flight",
        "key",
        "match_offset",
        "mode",
        "next_offset",
        "sent_at",
        "sent_sequence",
        "snapshot",
        "snapshot_position",
    )

    def __init__(self, key: ReplicaKey, *, next_offset: int, now: Millis) -> None:
        self.key = key
        self.mode = Mode.PROBING
        #: Its log equals ours below, and is on its disk there; moves only forward.
        self.match_offset = 0
        #: Where the next entries to send begin.
        self.next_offset = next_offset
        #: Where the entries end that were streamed and not acknowledged, message by message.
        self.in_flight: deque[int] = deque()
        #: Refusals of questions before this one are about a past that was already corrected.
        self.first_sequence = 0
        #: Of the newest question that was answered in this term: it proves that we led when that was sent.
        self.answered_sequence = 0
        self.heard_at = now
        #: When it last had everything that was committed; None if it never had.
        self.caught_up_at: Millis | None = None
        #: None: something is to be sent at once.
        self.sent_at: Millis | None = None
        #: Of the newest question sent.
        self.sent_sequence = 0
        self.commit_sent = 0
        #: What it is fed from while in that mode, and where the next piece begins.
        self.snapshot = NOTHING_OUTGOING
        self.snapshot_position = 0

    @property
    def has_answered(self) -> bool:
        """Whether it was heard of at all; a new leader only gives it time."""
        return self.answered_sequence > 0

    def sent(self, sequence: int, end_offset: int, *, commit_offset: int, now: Millis) -> None:
        """A question with entries up to ``end_offset``, or with none, is on its way."""
        self.sent_at = now
        self.sent_sequence = sequence
        self.commit_sent = commit_offset
        if self.mode is Mode.STREAMING and end_offset > self.next_offset:
            self.in_flight.append(end_offset)
            self.next_offset = end_offset

    def heard(self, sequence: int, now: Millis) -> None:
        """It answered."""
        self.heard_at = now
        self.answered_sequence = max(self.answered_sequence, sequence)

    def accepted(self, offset: int) -> None:
        """It has everything below ``offset``."""
        self.match_offset = max(self.match_offset, offset)
        self.next_offset = max(self.next_offset, offset)
        if self.mode is Mode.PROBING:
            self.mode = Mode.STREAMING
            self.next_offset = self.match_offset
        while self.in_flight and self.in_flight[0] <= self.match_offset:
            self.in_flight.popleft()

    def is_fresh_refusal(self, sequence: int) -> bool:
        """Whether a refusal tells something new."""
        return self.mode is not Mode.SNAPSHOT and sequence >= self.first_sequence

    def probe_from(self, offset: int, *, first_sequence: int) -> None:
        """Begin anew at ``offset``; only questions from ``first_sequence`` on count."""
        self.mode = Mode.PROBING
        self.next_offset = offset
        self.first_sequence = first_sequence
        self.in_flight.clear()
        self.snapshot = NOTHING_OUTGOING
        self.sent_at = None

    def send_snapshot(self, snapshot: OutgoingSnapshot) -> None:
        """Feed it from a snapshot, from the beginning."""
        self.mode = Mode.SNAPSHOT
        self.snapshot = snapshot
        self.snapshot_position = 0
        self.in_flight.clear()
        self.sent_at = None
