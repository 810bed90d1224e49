"""One Raft node: the door through which everything comes in, and the rules that hold in every role.

It is built from what its disk holds (``Restored``), told what happens (``handle``), asked when it wants to be
called again (``next_deadline``), and answers with orders (``output`` has the contract). ``validate`` checks
what must always hold.
"""

from random import Random
from typing import assert_never

from penstock.model.errors import InvariantError
from penstock.model.ids import Millis
from penstock.raft.elections import Elections
from penstock.raft.entry import ControlEntries
from penstock.raft.events import (
    AddVoterRequested,
    Event,
    LeaderUnreachable,
    MessageReceived,
    Persisted,
    Proposed,
    ReadRequested,
    RemoveVoterRequested,
    SnapshotInstalled,
    SnapshotTaken,
    SnapshotUnreadable,
    TimePassed,
    TransferRequested,
)
from penstock.raft.following import Following
from penstock.raft.hard_state import HardState
from penstock.raft.leadership import Leadership
from penstock.raft.log_reader import LogReader
from penstock.raft.log_view import LogView
from penstock.raft.messages import (
    Answered,
    AppendEntries,
    AppendResponse,
    InstallSnapshot,
    Message,
    ObserveRequest,
    ObserveResponse,
    SnapshotResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.observing import Observing
from penstock.raft.office import Office, Request
from penstock.raft.output import Output, Refusal, Refused
from penstock.raft.replica import ReplicaKey
from penstock.raft.restored import Restored, restore_hard_state, restore_log
from penstock.raft.settings import RaftSettings
from penstock.raft.state import NodeState
from penstock.raft.transition import Cause, Role
from penstock.raft.voters import VoterSet


class RaftNode:
    """A replica of the log."""

    __slots__ = ("_elections", "_following", "_observing", "_office", "_state")

    def __init__(
        self,
        *,
        key: ReplicaKey,
        settings: RaftSettings,
        rng: Random,
        restored: Restored,
        reader: LogReader,
        control_entries: ControlEntries,
        now: Millis,
    ) -> None:
        log = restore_log(restored, reader, settings)
        self._state = NodeState(
            key=key,
            settings=settings,
            rng=rng,
            hard_state=restore_hard_state(restored, log),
            log=log,
            control_entries=control_entries,
            now=now,
        )
        self._elections = Elections(self._state)
        self._following = Following(self._state)
        self._observing = Observing(self._state)
        self._office: Office | None = None

    # What there is to see

    @property
    def key(self) -> ReplicaKey:
        """Who this is."""
        return self._state.key

    @property
    def role(self) -> Role:
        """What it is at present."""
        return self._state.role

    @property
    def term(self) -> int:
        """The latest term it has seen."""
        return self._state.term

    @property
    def leader(self) -> ReplicaKey | None:
        """Who leads, as far as it knows."""
        return self._state.leader

    @property
    def commit_offset(self) -> int:
        """Everything below is committed; moves only forward."""
        return self._state.commit_offset

    @property
    def durable_end_offset(self) -> int:
        """Everything below is on its disk."""
        return self._state.disk.end_offset

    @property
    def hard_state(self) -> HardState:
        """What it must not forget."""
        return self._state.hard

    @property
    def voters(self) -> VoterSet:
        """The set in force."""
        return self._state.voters

    @property
    def log(self) -> LogView:
        """Its log; to look at, not to change."""
        return self._state.log

    @property
    def leadership(self) -> Leadership | None:
        """What it knows about the others, if it leads; to look at, not to change."""
        return None if self._office is None else self._office.leadership

    def next_deadline(self) -> Millis:
        """When it wants to hear ``TimePassed``, if nothing else happens before."""
        if self._office is not None:
            return self._office.next_deadline()
        state = self._state
        if state.role is not Role.OBSERVER:
            return state.election_deadline
        return min(self._observing.ask_at, state.election_deadline)

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        state = self._state
        if not state.log.start_offset <= state.commit_offset <= state.log.end_offset:
            raise InvariantError(
                f"commit {state.commit_offset} lies outside of a log from {state.log.start_offset} to "
                f"{state.log.end_offset}"
            )
        if state.disk.end_offset > state.log.end_offset:
            raise InvariantError(
                f"{state.disk.end_offset} is durable, the log ends at {state.log.end_offset}"
            )
        if state.log.last_term > state.term:
            raise InvariantError(f"the log has term {state.log.last_term}, the node {state.term}")
        if (state.role is Role.LEADER) != (self._office is not None):
            raise InvariantError(f"a {state.role} must hold the office of a leader exactly if it is one")

    # The door

    def handle(self, event: Event, now: Millis) -> Output:
        """Take in what happened; the only way a node changes."""
        self._state.now = max(self._state.now, now)
        self._dispatch(event)
        self._settle_roles()
        output = self._state.finish_output()
        if output.persist is not None:
            self._elections.note_order(output.number)
        return output

    def _dispatch(self, event: Event) -> None:
        match event:
            case MessageReceived():
                self._receive(event.message)
            case TimePassed():
                self._on_time()
            case LeaderUnreachable():
                self._on_unreachable(event.leader)
            case Persisted():
                self._on_persisted(event)
            case SnapshotTaken():
                self._on_snapshot_taken(event)
            case SnapshotInstalled():
                self._following.on_installed(event.snapshot_id)
            case SnapshotUnreadable():
                self._following.on_unreadable(event.snapshot_id)
            case (
                Proposed()
                | ReadRequested()
                | TransferRequested()
                | AddVoterRequested()
                | RemoveVoterRequested()
            ):
                self._request(event)
            case _:
                assert_never(event)

    # Time, disk, requests

    def _on_time(self) -> None:
        state = self._state
        if self._office is not None:
            if self._office.leadership.has_lost_quorum():
                self._follow(state.term, None, Cause.QUORUM_LOST)
            else:
                self._office.on_time()
            return
        if state.now >= state.election_deadline:
            if self._observing.is_due_with_election:
                self._observing.ask()
            self._elections.stand_or_wait()
        if state.role is Role.OBSERVER:
            self._observing.ask_if_due()

    def _on_unreachable(self, leader: ReplicaKey) -> None:
        """Do not wait a whole timeout for a leader that has perhaps died; it may prove that it has not."""
        state = self._state
        if leader == state.key or leader != state.leader:
            return
        state.doubt_leader()
        if state.role is Role.OBSERVER:
            state.leader = None
            self._observing.ask_at = min(self._observing.ask_at, state.election_deadline)

    def _on_persisted(self, event: Persisted) -> None:
        self._state.disk.settle(event.number)
        if self._office is not None:
            self._office.on_persisted()
        elif self._elections.own_vote_persisted():
            self._take_office()

    def _on_snapshot_taken(self, event: SnapshotTaken) -> None:
        state = self._state
        if event.snapshot_id.end_offset > state.commit_offset:
            raise InvariantError(
                f"snapshot {event.snapshot_id} has more than is committed, {state.commit_offset}"
            )
        if event.snapshot_id.end_offset > state.log.snapshot_id.end_offset:
            state.log.snapshot_taken(event.snapshot_id, event.log_start_offset)

    def _request(self, request: Request) -> None:
        if self._office is not None:
            self._office.handle(request)
        else:
            state = self._state
            state.answer(Refused(token=request.token, reason=Refusal.NOT_LEADER, leader=state.leader))

    # Messages

    def _receive(self, message: Message) -> None:
        if isinstance(message, VoteRequest):
            if self._elections.is_ignored(message):
                self._elections.refuse(message)
                return
        elif not self._is_addressed(message):
            return
        if self._raises_term(message):
            self._see_higher_term(message)
        match message:
            case VoteRequest():
                self._elections.on_request(message)
            case AppendEntries() | InstallSnapshot():
                self._obey(message)
            case TimeoutNow():
                self._on_timeout_now(message)
            case ObserveRequest():
                self._on_observe(message)
            case _:
                self._receive_answer(message)

    def _receive_answer(self, message: Answered) -> None:
        office = self._office if message.term == self._state.term else None
        match message:
            case VoteResponse():
                if self._elections.on_response(message):
                    self._take_office()
            case AppendResponse():
                if office is not None:
                    office.on_append_response(message)
            case SnapshotResponse():
                if office is not None:
                    office.on_snapshot_response(message)
            case ObserveResponse():
                self._observing.on_response(message)
            case _:
                assert_never(message)

    def _is_addressed(self, message: Message) -> bool:
        """Whether it is for this node with this disk; whoever looks for a leader asks anybody."""
        key = self._state.key
        return message.target == key or (isinstance(message, ObserveRequest) and message.sender != key)

    def _raises_term(self, message: Message) -> bool:
        """Whether it shows a later term than this node's; a pre-vote and an observer show nothing."""
        if isinstance(message, VoteRequest) and message.is_pre_vote:
            return False
        return not isinstance(message, ObserveRequest) and message.term > self._state.term

    def _see_higher_term(self, message: Message) -> None:
        """Update to the larger term and revert to follower (section 5.1)."""
        is_leader = isinstance(message, AppendEntries | InstallSnapshot)
        cause = Cause.LEADER_FOUND if is_leader else Cause.HIGHER_TERM_SEEN
        self._follow(message.term, message.sender if is_leader else None, cause)

    def _obey(self, message: AppendEntries | InstallSnapshot) -> None:
        """Do what the leader of this term says; tell an older one that its time is over."""
        state = self._state
        if message.term < state.term:
            self._following.refuse_old_leader(message)
            return
        if state.role is Role.LEADER:
            raise InvariantError(f"{message.sender} leads in term {message.term}, and so does {state.key}")
        if state.leader != message.sender or state.role in (Role.CANDIDATE, Role.PRE_CANDIDATE):
            self._follow(message.term, message.sender, Cause.LEADER_FOUND)
        state.leader_heard_at = state.now
        state.reset_election_timer()
        if isinstance(message, AppendEntries):
            self._following.on_append(message)
        else:
            self._following.on_snapshot(message)

    def _on_timeout_now(self, message: TimeoutNow) -> None:
        state = self._state
        if message.term == state.term and state.role is not Role.LEADER and state.may_stand():
            self._elections.stand(Cause.TOLD_TO_STAND, is_handover=True)

    def _on_observe(self, message: ObserveRequest) -> None:
        state = self._state
        if self._office is not None:
            self._office.leadership.on_observe(message)
        else:
            state.send_now(
                ObserveResponse(sender=state.key, target=message.sender, term=state.term, leader=state.leader)
            )

    # Roles

    def _follow(self, term: int, leader: ReplicaKey | None, cause: Cause) -> None:
        """Stand back: for a later term, for a leader, or for want of a majority."""
        state = self._state
        self._leave_office()
        self._elections.withdraw()
        if term > state.term:
            state.save_term(term)
        state.become(state.follower_role(), cause, leader=leader)

    def _take_office(self) -> None:
        state = self._state
        self._elections.withdraw()
        state.become(Role.LEADER, Cause.ELECTED, leader=state.key)
        self._office = Office(state)

    def _leave_office(self) -> None:
        if self._office is not None:
            self._office.refuse_all()
            self._office = None
            self._state.reset_election_timer()

    def _settle_roles(self) -> None:
        """Voters are who the log says: an entry taken, cut off or committed may have changed that."""
        state = self._state
        if self._office is not None and self._office.is_over:
            self._office.name_successor()
            self._follow(state.term, None, Cause.REMOVED)
        elif state.role in (Role.FOLLOWER, Role.OBSERVER) and state.role is not state.follower_role():
            role = state.follower_role()
            cause = Cause.ADMITTED if role is Role.FOLLOWER else Cause.REMOVED
            state.become(role, cause, leader=state.leader)
            self._observing.ask_at = state.now
        state.end_quarantine_if_due()
