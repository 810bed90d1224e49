"""A leader: it takes proposals, feeds everybody, and decides what is committed.

One object is one leadership, of one term. What came with it goes with it: nothing here outlives the term.
"""

from collections import deque

from penstock.model.ids import Millis
from penstock.model.limits import RAFT_OBSERVERS_MAX
from penstock.raft.entry import Entry, EntryKind, Payload
from penstock.raft.events import Proposed, ReadRequested
from penstock.raft.feeding import Feeding
from penstock.raft.messages import AppendResponse, ObserveRequest, SnapshotResponse
from penstock.raft.output import Accepted, Refusal, Refused
from penstock.raft.progress import Progress
from penstock.raft.reads import Reads
from penstock.raft.replica import ReplicaKey
from penstock.raft.state import NodeState
from penstock.raft.voters import VoterSet


class Leadership:
    """One node's time as a leader."""

    __slots__ = (
        "_beat_at",
        "_feeding",
        "_progress",
        "_quorum_checked_at",
        "_reads",
        "_state",
        "_uncommitted",
        "_uncommitted_bytes",
        "is_handing_over",
        "term_start_offset",
    )

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self._feeding = Feeding(state)
        self._progress: dict[ReplicaKey, Progress] = {}
        self._reads = Reads()
        self._quorum_checked_at = state.now
        self._beat_at = Millis(state.now + state.settings.heartbeat_interval_ms)
        #: What this leader wrote and is not committed: where it ends, and its bytes.
        self._uncommitted: deque[tuple[int, int]] = deque()
        self._uncommitted_bytes = 0
        #: Whether a successor is being prepared: nothing new is taken, so that it can catch up.
        self.is_handing_over = False
        #: Where its own first entry stands.
        self.term_start_offset = state.log.end_offset
        self._follow_voters()
        self._append_leader_change()
        self.feed_all()

    @property
    def has_committed_in_its_term(self) -> bool:
        """Whether it knows how far its predecessors were: its own first entry is committed."""
        return self._state.commit_offset > self.term_start_offset

    @property
    def observers(self) -> tuple[ReplicaKey, ...]:
        """Who is fed and has no vote, in order."""
        voters = self._state.voters
        return tuple(sorted(key for key in self._progress if key not in voters))

    def progress_of(self, key: ReplicaKey) -> Progress | None:
        """How far another replica is."""
        return self._progress.get(key)

    # Proposals

    def propose(self, event: Proposed) -> None:
        """Append to the log, and send it on."""
        refusal = self._refusal_of(event)
        if refusal is not None:
            self.refuse(event.token, refusal)
            return
        state = self._state
        offset = state.log.end_offset
        for batch in event.batches:
            self._append(batch.payload, record_count=batch.record_count)
        state.answer(
            Accepted(token=event.token, offset=offset, end_offset=state.log.end_offset, term=state.term)
        )
        self.feed_all()

    def append_voters(self, voters: VoterSet, token: int) -> None:
        """Put another set of voters in force."""
        state = self._state
        offset = state.log.end_offset
        payload = state.control_entries.voters(voters)
        self._append(payload, kind=EntryKind.VOTERS, voters=voters)
        self._follow_voters()
        state.answer(Accepted(token=token, offset=offset, end_offset=state.log.end_offset, term=state.term))
        self.feed_all()

    def refuse(self, token: int, reason: Refusal) -> None:
        """Turn a request down."""
        self._state.answer(Refused(token=token, reason=reason, leader=self._state.leader))

    def _refusal_of(self, event: Proposed) -> Refusal | None:
        if self.is_handing_over:
            return Refusal.HANDING_OVER
        size = sum(len(batch.payload) for batch in event.batches)
        if self._uncommitted and self._uncommitted_bytes + size > self._state.settings.uncommitted_bytes_max:
            return Refusal.OVERLOADED
        return None

    def _append(
        self,
        payload: Payload,
        *,
        record_count: int = 1,
        kind: EntryKind = EntryKind.DATA,
        voters: VoterSet | None = None,
    ) -> None:
        state = self._state
        offset = state.log.end_offset
        entry = Entry(
            offset=offset,
            end_offset=offset + record_count,
            term=state.term,
            payload=payload,
            kind=kind,
            voters=voters,
        )
        state.append(entry)
        self._uncommitted.append((entry.end_offset, entry.size_bytes))
        self._uncommitted_bytes += entry.size_bytes

    def _append_leader_change(self) -> None:
        """Write "a blank no-op entry at the start of its term" (section 8)."""
        state = self._state
        payload = state.control_entries.leader_change(state.key, state.voters)
        self._append(payload, kind=EntryKind.LEADER_CHANGE)

    # Reads

    def read(self, event: ReadRequested) -> None:
        """Answer once it is certain that nobody else has led since."""
        state = self._state
        if self._reads.is_full:
            self.refuse(event.token, Refusal.OVERLOADED)
        elif not self._knows_what_is_committed():
            self._reads.add_early(event.token)
        else:
            self._reads.add(event.token, offset=state.commit_offset, sequence=state.sequence)
            self._confirm_reads()
            self._ask_for_confirmation()

    def _knows_what_is_committed(self) -> bool:
        """Whether its commit is not behind that of a predecessor."""
        return self.has_committed_in_its_term

    def waiting_tokens(self) -> list[int]:
        """Of reads that this leadership will not answer if it ends now."""
        return self._reads.tokens()

    def _ask_for_confirmation(self) -> None:
        """Ask everybody with a vote who owes no answer; reads that come meanwhile share the next question."""
        newest = self._reads.newest_sequence
        for progress in self._others_with_vote():
            if newest >= progress.sent_sequence and progress.answered_sequence >= progress.sent_sequence:
                self._feeding.beat(progress)

    def _confirm_reads(self) -> None:
        answered = self._state.voters.majority_has(self._answered_sequence)
        for ready in self._reads.confirm(answered):
            self._state.answer(ready)

    def _answered_sequence(self, key: ReplicaKey) -> int:
        if key == self._state.key:
            return self._state.sequence + 1
        return self._progress[key].answered_sequence

    # Answers

    def on_append_response(self, response: AppendResponse) -> None:
        """Somebody has taken entries, or has not."""
        progress = self._heard(response.sender, response.sequence)
        if progress is not None:
            self._feeding.on_append_response(progress, response)
            self.advance_commit()
            if progress.match_offset >= self._state.commit_offset:
                progress.caught_up_at = self._state.now
            self._feeding.feed(progress)
            self._confirm_reads()
            self._ask_for_confirmation()

    def on_snapshot_response(self, response: SnapshotResponse) -> None:
        """Somebody has taken a piece of the snapshot."""
        progress = self._heard(response.sender, response.sequence)
        if progress is not None:
            self._feeding.on_snapshot_response(progress, response)
            self.advance_commit()
            self._feeding.feed(progress)
            self._confirm_reads()

    def on_observe(self, request: ObserveRequest) -> None:
        """Somebody without a vote wants the log."""
        state, progress = self._state, self._progress.get(request.sender)
        if progress is None and len(self.observers) < RAFT_OBSERVERS_MAX:
            next_offset = min(request.end_offset, state.log.end_offset)
            progress = Progress(request.sender, next_offset=next_offset, now=state.now)
            self._progress[request.sender] = progress
        if progress is not None:
            if request.sender not in state.voters:
                # A voter that asks may not hear us: only its answers prove that it does.
                progress.heard_at = state.now
            self._feeding.feed(progress)

    def _heard(self, key: ReplicaKey, sequence: int) -> Progress | None:
        progress = self._progress.get(key)
        if progress is not None:
            progress.heard(sequence, self._state.now)
        return progress

    # Commit

    def advance_commit(self) -> None:
        """Commit what a majority has on disk."""
        state = self._state
        offset = state.voters.majority_has(self._durable_end)
        if offset <= state.commit_offset or not self._may_commit(offset):
            return
        was_known = self.has_committed_in_its_term
        state.advance_commit(offset)
        while self._uncommitted and self._uncommitted[0][0] <= offset:
            self._uncommitted_bytes -= self._uncommitted.popleft()[1]
        if not was_known and self.has_committed_in_its_term:
            self._reads.commit_known(offset=offset, sequence=state.sequence)
        self.feed_all()
        self._ask_for_confirmation()

    def _may_commit(self, offset: int) -> bool:
        """Whether it is of this term: only such entries "are committed by counting replicas" (5.4.2)."""
        return self._state.log.terms.before(offset) == self._state.term

    def _durable_end(self, key: ReplicaKey) -> int:
        """How far a voter's disk has this log."""
        if key == self._state.key:
            return self._own_durable_end()
        return self._progress[key].match_offset

    def _own_durable_end(self) -> int:
        """A leader counts itself like any other: when it is on disk."""
        return self._state.disk.end_offset

    # Time

    def next_deadline(self) -> Millis:
        """When something is due."""
        quorum_at = self._quorum_checked_at + self._state.settings.quorum_timeout_ms
        return min(self._beat_at, Millis(quorum_at))

    def beat_if_due(self) -> None:
        """Send something to everybody who has not heard anything for a while, and drop who is gone."""
        state = self._state
        if state.now < self._beat_at:
            return
        interval = state.settings.heartbeat_interval_ms
        self._beat_at = Millis(state.now + interval)
        for key in self.observers:
            if state.now - self._progress[key].heard_at >= state.settings.observer_timeout_ms:
                del self._progress[key]
        for progress in self._progress.values():
            if progress.sent_at is None or state.now - progress.sent_at >= interval // 2:
                self._feeding.beat(progress)

    def has_lost_quorum(self) -> bool:
        """Whether no majority answered for longer than a leader may go on (check-quorum, section 6.2)."""
        state = self._state
        if state.now - self._quorum_checked_at < state.settings.quorum_timeout_ms:
            return False
        since = self._quorum_checked_at
        self._quorum_checked_at = state.now
        return not state.voters.has_majority(self._heard_since(since))

    def can_rely_on(self, voters: VoterSet) -> bool:
        """Whether a majority of a set that is to be has answered this leader, and lately."""
        state = self._state
        return voters.has_majority(self._heard_since(state.now - state.settings.quorum_timeout_ms))

    def _heard_since(self, time: int) -> set[ReplicaKey]:
        heard = {
            key
            for key, progress in self._progress.items()
            if progress.has_answered and progress.heard_at > time
        }
        return heard | {self._state.key}

    def feed_all(self) -> None:
        """Send what can be sent."""
        for progress in self._progress.values():
            self._feeding.feed(progress)

    def voter_with_most(self) -> ReplicaKey | None:
        """The other voter whose log is longest."""
        others = self._others_with_vote()
        best = max(others, key=lambda each: (each.match_offset, -each.key.node_id), default=None)
        return None if best is None else best.key

    def _others_with_vote(self) -> list[Progress]:
        return [self._progress[key] for key in self._state.voters.keys if key != self._state.key]

    def _follow_voters(self) -> None:
        """Have progress for every voter; who lost its vote is fed on as an observer until it goes."""
        state = self._state
        for key in state.voters.keys:
            if key != state.key and key not in self._progress:
                self._progress[key] = Progress(key, next_offset=state.log.end_offset, now=state.now)
