"""Everything a node does because it leads, in the order in which the parts must see it."""

from typing import TypeAlias, assert_never

from penstock.model.ids import Millis
from penstock.raft.events import (
    AddVoterRequested,
    Proposed,
    ReadRequested,
    RemoveVoterRequested,
    TransferRequested,
)
from penstock.raft.handover import Handover
from penstock.raft.leadership import Leadership
from penstock.raft.membership import Membership
from penstock.raft.messages import AppendResponse, SnapshotResponse
from penstock.raft.output import Refusal, Refused
from penstock.raft.state import NodeState

Request: TypeAlias = Proposed | ReadRequested | TransferRequested | AddVoterRequested | RemoveVoterRequested
"""What a shell asks for on somebody's behalf, and only a leader can do."""


class Office:
    """One leadership with its parts; thrown away when it ends."""

    __slots__ = ("_handover", "_membership", "_state", "leadership")

    def __init__(self, state: NodeState) -> None:
        self._state = state
        self.leadership = Leadership(state)
        self._membership = Membership(state, self.leadership)
        self._handover = Handover(state, self.leadership)

    def handle(self, request: Request) -> None:
        """Do what was asked, or refuse it."""
        match request:
            case Proposed():
                self.leadership.propose(request)
            case ReadRequested():
                self.leadership.read(request)
            case TransferRequested():
                self._handover.begin(request)
            case AddVoterRequested():
                self._membership.add(request)
            case RemoveVoterRequested():
                self._membership.remove(request)
            case _:
                assert_never(request)

    def on_append_response(self, response: AppendResponse) -> None:
        """A replica answered."""
        self.leadership.on_append_response(response)
        self._look_at_the_others()

    def on_snapshot_response(self, response: SnapshotResponse) -> None:
        """A replica answered."""
        self.leadership.on_snapshot_response(response)
        self._look_at_the_others()

    def on_persisted(self) -> None:
        """The leader's own disk has come further."""
        self.leadership.advance_commit()
        self._look_at_the_others()

    def on_time(self) -> None:
        """Do what is due."""
        self.leadership.beat_if_due()
        self._look_at_the_others()

    def next_deadline(self) -> Millis:
        """When something is due."""
        handover = self._handover.next_deadline()
        own = self.leadership.next_deadline()
        return own if handover is None else min(own, handover)

    @property
    def is_over(self) -> bool:
        """Whether this leader has lost its vote by an entry that is committed: its work is done."""
        state = self._state
        latest = state.log.voters.latest_end_offset
        return state.key not in state.voters and latest <= state.commit_offset

    def name_successor(self) -> None:
        """A leader that was removed need not be missed for a whole election timeout."""
        successor = self.leadership.voter_with_most()
        if successor is not None:
            self._handover.tell(successor)

    def refuse_all(self) -> None:
        """The leadership ends: whoever still waits must ask the next leader."""
        for token in (
            *self.leadership.waiting_tokens(),
            *self._membership.waiting_tokens(),
            *self._handover.waiting_tokens(),
        ):
            self._state.answer(Refused(token=token, reason=Refusal.LEADERSHIP_LOST, leader=None))

    def _look_at_the_others(self) -> None:
        self._membership.promote_if_ready()
        self._handover.finish_if_ready()
