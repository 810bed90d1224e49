"""One Raft node without a world around it: messages in, orders out, a disk that flushes when told to."""

from collections.abc import Sequence
from itertools import groupby
from random import Random
from typing import Any, TypeVar

from penstock.model.errors import CorruptLogError
from penstock.model.ids import Millis, NodeId
from penstock.raft.entry import NO_SNAPSHOT, Entry, Payload, SnapshotId
from penstock.raft.events import Event, MessageReceived, NewBatch, Persisted, Proposed, TimePassed
from penstock.raft.hard_state import HardState
from penstock.raft.log_reader import SnapshotPiece
from penstock.raft.messages import (
    AppendEntries,
    AppendResponse,
    Message,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.node import RaftNode
from penstock.raft.output import Output
from penstock.raft.progress import Progress
from penstock.raft.replica import ReplicaKey, Voter
from penstock.raft.restored import Restored
from penstock.raft.settings import RaftSettings
from penstock.raft.transition import Role
from penstock.raft.voters import VoterSet, voter_set

Kind = TypeVar("Kind")

TIMEOUT = 1_000
SETTINGS = RaftSettings(election_timeout_ms=TIMEOUT, heartbeat_interval_ms=100)
SNAPSHOT_CONTENT = b"the state of everything"


def key(number: int, disk: int = 1) -> ReplicaKey:
    return ReplicaKey(NodeId(number), bytes([disk]) * 16)


def voters(*numbers: int) -> VoterSet:
    return voter_set(Voter(key=key(number)) for number in numbers)


def entry(offset: int, term: int, payload: bytes = b"x", **fields: Any) -> Entry:
    return Entry(offset=offset, end_offset=offset + 1, term=term, payload=payload, **fields)


THREE_VOTERS = voters(1, 2, 3)


class ListedLog:
    """What a node has on disk."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries = list(entries)
        self.lost_snapshots: set[SnapshotId] = set()
        #: Offsets of entries that are not what was written any more.
        self.rotten: set[int] = set()

    def read(self, offset: int, *, end_offset: int, bytes_max: int) -> tuple[Entry, ...]:
        if not self.rotten.isdisjoint(range(offset, end_offset)):
            raise CorruptLogError(f"rot in {offset} to {end_offset}")
        return tuple(each for each in self.entries if offset <= each.offset < end_offset)

    def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        if snapshot_id in self.lost_snapshots:
            return None
        data = SNAPSHOT_CONTENT[position : position + bytes_max]
        return SnapshotPiece(data=data, size_bytes=len(SNAPSHOT_CONTENT))


class PlainEntries:
    """Control entries that can be recognised."""

    def leader_change(self, leader: ReplicaKey, voters: VoterSet) -> Payload:
        return b"leader change"

    def voters(self, voters: VoterSet) -> Payload:
        return b"voters"


class Driver:
    """A node, and what it wants."""

    def __init__(
        self,
        number: int = 1,
        *,
        voters: VoterSet = THREE_VOTERS,
        terms: Sequence[int] = (),
        hard_state: HardState | None = None,
        settings: RaftSettings = SETTINGS,
        snapshot_id: SnapshotId = NO_SNAPSHOT,
        entries: Sequence[Entry] | None = None,
    ) -> None:
        start = snapshot_id.end_offset
        if entries is None:
            entries = [entry(start + place, term) for place, term in enumerate(terms)]
        self.disk = ListedLog(entries)
        self.now = Millis(10_000)
        last_term = entries[-1].term if entries else snapshot_id.term
        restored = Restored(
            hard_state=hard_state or HardState(term=last_term),
            snapshot_id=snapshot_id,
            voters=voters,
            log_start_offset=start,
            base_term=snapshot_id.term,
            log_end_offset=entries[-1].end_offset if entries else start,
            term_starts=tuple(
                (term, next(group).offset) for term, group in groupby(entries, lambda e: e.term)
            ),
            voter_entries=tuple(each for each in entries if each.voters is not None),
        )
        self.node = RaftNode(
            key=key(number),
            settings=settings,
            rng=Random(number),
            restored=restored,
            reader=self.disk,
            control_entries=PlainEntries(),
            now=self.now,
        )
        self.number = 0

    def handle(self, event: Event) -> Output:
        output = self.node.handle(event, self.now)
        self.number = output.number or self.number
        if output.truncate_to is not None:
            cut = output.truncate_to
            self.disk.entries = [each for each in self.disk.entries if each.end_offset <= cut]
        self.disk.entries.extend(output.append)
        self.node.validate()
        return output

    def role(self) -> Role:
        return self.node.role

    def progress(self, number: int) -> Progress:
        assert self.node.leadership is not None
        progress = self.node.leadership.progress_of(key(number))
        assert progress is not None
        return progress

    def receive(self, message: Message) -> Output:
        return self.handle(MessageReceived(message=message))

    def persist(self) -> Output:
        return self.handle(Persisted(number=self.number))

    def wait(self, milliseconds: int) -> Output:
        self.now = Millis(self.now + milliseconds)
        return self.handle(TimePassed())

    def time_out(self) -> Output:
        self.now = max(self.now, self.node.next_deadline())
        return self.handle(TimePassed())

    def propose(self, *payloads: bytes, token: int = 1) -> Output:
        batches = tuple(NewBatch(payload=payload) for payload in payloads)
        return self.handle(Proposed(token=token, batches=batches))

    # Ready-made situations

    def stand(self) -> Output:
        """Have the pre-vote won; returns the output with the candidacy."""
        return self._voted_for(self.time_out(), is_pre_vote=True)

    def lead(self) -> Output:
        """Be elected by the first who are asked; returns the output of the election."""
        stood = self.stand()
        self.persist()
        elected = self._voted_for(stood, is_pre_vote=False)
        assert self.role() is Role.LEADER
        return elected

    def _voted_for(self, asked: Output, *, is_pre_vote: bool) -> Output:
        """Give the votes that were asked for, until that changes something."""
        for question in sent(asked, VoteRequest):
            number = int(question.target.node_id)
            output = self.receive(self.vote(number, sequence=question.sequence, is_pre_vote=is_pre_vote))
            if output.transitions:
                return output
        raise AssertionError("votes change nothing")

    def lead_and_commit(self) -> None:
        """Be elected, commit the first entry with the help of all others, and tell them."""
        self.lead()
        self.persist()
        self.acknowledge_all()
        self.acknowledge_all()

    def acknowledge_all(self) -> None:
        for other in self.node.voters.keys:
            if other != self.node.key:
                self.receive(self.accepted(int(other.node_id)))

    def vote(
        self,
        number: int,
        *,
        sequence: int,
        is_granted: bool = True,
        is_pre_vote: bool = False,
        term: int | None = None,
    ) -> VoteResponse:
        return VoteResponse(
            sender=key(number),
            target=self.node.key,
            term=self.node.term if term is None else term,
            sequence=sequence,
            is_granted=is_granted,
            is_pre_vote=is_pre_vote,
        )

    def vote_request(self, number: int = 2, **fields: Any) -> VoteRequest:
        values: dict[str, Any] = {
            "sender": key(number),
            "target": self.node.key,
            "term": self.node.term + 1,
            "sequence": 1,
            "last_term": self.node.log.last_term,
            "end_offset": self.node.log.end_offset,
        }
        return VoteRequest(**values | fields)

    def append_entries(self, *entries: Entry, number: int = 2, **fields: Any) -> AppendEntries:
        offset = entries[0].offset if entries else self.node.log.end_offset
        values: dict[str, Any] = {
            "sender": key(number),
            "target": self.node.key,
            "term": self.node.term,
            "sequence": 1,
            "offset": offset,
            "previous_term": self.node.log.terms.before(offset) or 0,
            "commit_offset": 0,
            "entries": entries,
        }
        return AppendEntries(**values | fields)

    def accepted(self, number: int, offset: int | None = None, **fields: Any) -> AppendResponse:
        values: dict[str, Any] = {
            "sender": key(number),
            "target": self.node.key,
            "term": self.node.term,
            "sequence": self.node._state.sequence,
            "is_accepted": True,
            "offset": self.node.log.end_offset if offset is None else offset,
        }
        return AppendResponse(**values | fields)

    def refused(self, number: int, offset: int, hint_term: int) -> AppendResponse:
        return self.accepted(number, offset, is_accepted=False, hint_term=hint_term)


def sent(output: Output, kind: type[Kind]) -> list[Kind]:
    """Messages of a kind, whenever they may leave."""
    return [each for each in (*output.send_now, *output.send_after_persist) if isinstance(each, kind)]


def terms_of(driver: Driver) -> list[int]:
    """The terms of everything in a node's log."""
    log = driver.node.log
    return [log.terms.before(offset + 1) or 0 for offset in range(log.start_offset, log.end_offset)]
