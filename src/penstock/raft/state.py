"""What every role of a node shares: its term and vote, its log, the output in the making.

The roles change it only through the methods here, each of which keeps one rule of figure 2 of the paper.
"""

from random import Random

from penstock.model.errors import InvariantError
from penstock.model.ids import Millis
from penstock.raft.durability import Durability
from penstock.raft.entry import ControlEntries, Entry
from penstock.raft.hard_state import HardState
from penstock.raft.log_view import LogView
from penstock.raft.messages import Message
from penstock.raft.output import Answer, Output, OutputDraft
from penstock.raft.replica import ReplicaKey
from penstock.raft.settings import RaftSettings
from penstock.raft.transition import Cause, Role, Transition, check_transition
from penstock.raft.voters import VoterSet


class NodeState:
    """One node."""

    __slots__ = (
        "_draft",
        "commit_offset",
        "control_entries",
        "disk",
        "election_deadline",
        "hard",
        "key",
        "leader",
        "leader_heard_at",
        "log",
        "now",
        "rng",
        "role",
        "sequence",
        "settings",
    )

    def __init__(
        self,
        *,
        key: ReplicaKey,
        settings: RaftSettings,
        rng: Random,
        hard_state: HardState,
        log: LogView,
        control_entries: ControlEntries,
        now: Millis,
    ) -> None:
        self.key = key
        self.settings = settings
        self.rng = rng
        self.hard = hard_state
        self.log = log
        self.control_entries = control_entries
        self.disk = Durability(log.end_offset)
        self.role = Role.FOLLOWER if key in log.voters.latest else Role.OBSERVER
        self.leader: ReplicaKey | None = None
        #: When the leader was last heard; None if it never was in this term.
        self.leader_heard_at: Millis | None = None
        #: Everything below is committed; moves only forward. A snapshot holds nothing else.
        self.commit_offset = log.snapshot_id.end_offset
        #: Of the newest question sent; never used twice by one process.
        self.sequence = 0
        self.now = now
        self.election_deadline = now
        self._draft = OutputDraft()
        if not self._decides_alone():
            self.reset_election_timer()

    @property
    def term(self) -> int:
        """The latest term seen."""
        return self.hard.term

    @property
    def voters(self) -> VoterSet:
        """The set in force."""
        return self.log.voters.latest

    @property
    def is_quarantined(self) -> bool:
        """Whether it lost entries that it had vouched for, and has not got them back."""
        return self.hard.quarantined_below > 0

    @property
    def hears_a_leader(self) -> bool:
        """Whether a leader is alive as far as this node can tell; itself, if it leads."""
        if self.role is Role.LEADER:
            return True
        heard = self.leader_heard_at
        return heard is not None and self.now - heard < self.settings.election_timeout_ms

    def may_stand(self) -> bool:
        """Whether it may ask for votes: as a voter of the set in force or of one that may still be.

        A node whose removal is not committed must be able to stand: with two voters, the one that is left
        may lack the entry that says so, and then only the other can be elected (dissertation, section 4.2.2).
        """
        if self.is_quarantined:
            return False
        return any(self.key in voters for voters in self.log.voters.since(self.commit_offset))

    def _decides_alone(self) -> bool:
        """Whether nobody else could lead: to wait for a leader to show itself would be in vain."""
        return self.voters.keys == (self.key,) and self.may_stand()

    def next_sequence(self) -> int:
        """A number for a question."""
        self.sequence += 1
        return self.sequence

    def reset_election_timer(self) -> None:
        """Wait once more, for a time that differs from everybody else's."""
        timeout = self.settings.election_timeout_ms
        self.election_deadline = Millis(self.now + timeout + self.rng.randrange(timeout))

    def doubt_leader(self) -> None:
        """Wait for one more of the leader's heartbeats only, again for a time that differs from others'.

        Until then nobody's candidacy is kept from having this node's vote for the leader's sake.
        """
        interval = self.settings.heartbeat_interval_ms
        self.leader_heard_at = None
        deadline = self.now + interval + self.rng.randrange(interval)
        self.election_deadline = min(self.election_deadline, Millis(deadline))

    def save(self, hard_state: HardState) -> None:
        """Have this remembered."""
        if hard_state.term < self.hard.term:
            raise InvariantError(f"the term cannot go from {self.hard.term} back to {hard_state.term}")
        self.hard = hard_state
        self._draft.persist = hard_state

    def save_term(self, term: int) -> None:
        """Enter a later term, with a vote to give in it."""
        self.save(HardState(term=term, quarantined_below=self.hard.quarantined_below))

    def save_vote(self, key: ReplicaKey) -> None:
        """Give the vote of this term away."""
        self.save(HardState(term=self.term, voted_for=key, quarantined_below=self.hard.quarantined_below))

    def become(self, role: Role, cause: Cause, *, leader: ReplicaKey | None = None) -> None:
        """Take a role; told to the shell if anything changes."""
        check_transition(self.role, role)
        before, self.role = self.role, role
        if leader != self.leader:
            self.leader = leader
            self.leader_heard_at = None
        self._draft.transitions.append(
            Transition(before=before, after=role, term=self.term, leader=leader, cause=cause)
        )

    def follower_role(self) -> Role:
        """What a node is that does not stand and does not lead."""
        return Role.FOLLOWER if self.key in self.voters else Role.OBSERVER

    def append(self, entry: Entry) -> None:
        """Put an entry at the end of the log."""
        self.log.append(entry, durable_end=self.disk.end_offset)
        self._draft.append.append(entry)

    def truncate(self, offset: int) -> None:
        """Cut off what a leader does not have."""
        if offset < self.commit_offset:
            raise InvariantError(
                f"told to cut the log at {offset}, but everything below {self.commit_offset} is committed"
            )
        self.log.truncate(offset)
        self.disk.truncate(offset)
        self._draft.truncate_to = offset

    def advance_commit(self, offset: int) -> None:
        """Everything below ``offset`` is committed."""
        if offset <= self.commit_offset:
            return
        if offset > self.log.end_offset:
            raise InvariantError(f"{offset} cannot be committed in a log that ends at {self.log.end_offset}")
        self.commit_offset = offset
        self._draft.commit_offset = offset

    def end_quarantine_if_due(self) -> None:
        """Vouch for the log again once everything that was lost is back, committed and on disk."""
        mark = self.hard.quarantined_below
        if 0 < mark <= min(self.commit_offset, self.disk.end_offset):
            self.save(HardState(term=self.term, voted_for=self.hard.voted_for))

    def send_now(self, message: Message) -> None:
        """Say something that needs no disk."""
        self._draft.send_now.append(message)

    def send_after_persist(self, message: Message) -> None:
        """Say something that must still be true after a crash."""
        self._draft.send_after_persist.append(message)

    def answer(self, answer: Answer) -> None:
        """Answer a request of the shell's."""
        self._draft.answers.append(answer)

    @property
    def draft(self) -> OutputDraft:
        """The output in the making."""
        return self._draft

    def finish_output(self) -> Output:
        """Everything that follows from the event at hand."""
        draft, self._draft = self._draft, OutputDraft()
        number = self.disk.order(self.log.end_offset) if draft.needs_disk else 0
        return draft.finish(number)
