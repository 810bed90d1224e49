"""A node looks for a leader to be fed by: leaders know of voters, not of observers.

Nor of those that were voters once and missed their removal: they take themselves for voters, stand in vain
for ever, and would never learn better. So whoever stands in vain asks, too.

Nor of voters that have moved, until these say where they listen now. One that may stand says so when it asks
for votes; one that is quarantined may not, so it asks for a leader in its place.
"""

from penstock.model.ids import Millis
from penstock.raft.messages import ObserveRequest, ObserveResponse
from penstock.raft.replica import NOBODY
from penstock.raft.state import NodeState
from penstock.raft.transition import Role

_LEADERLESS = (Role.OBSERVER, Role.PRE_CANDIDATE)


class Observing:
    """The part of a node that asks to be told."""

    __slots__ = ("_state", "ask_at")

    def __init__(self, state: NodeState) -> None:
        self._state = state
        #: When it asks next, unless a leader speaks before.
        self.ask_at = state.now

    @property
    def is_due_with_election(self) -> bool:
        """Whether it asks each time its election timer runs out; observers ask at times of their own."""
        state = self._state
        return state.role is Role.PRE_CANDIDATE or (state.role is Role.FOLLOWER and state.is_quarantined)

    def ask_if_due(self) -> None:
        """Ask, if nobody leads as far as this node can hear."""
        state = self._state
        if state.now < self.ask_at:
            return
        self.ask_at = Millis(state.now + state.settings.election_timeout_ms)
        if not state.hears_a_leader:
            self.ask()

    def on_response(self, response: ObserveResponse) -> None:
        """Ask the one that was named, if that is news."""
        state = self._state
        is_news = response.leader not in (None, state.key) and state.leader is None
        is_looking = state.role in _LEADERLESS or state.is_quarantined
        if is_news and response.term == state.term and is_looking:
            state.leader = response.leader
            self.ask()

    def ask(self) -> None:
        """Ask whom it takes for the leader, else some voter or anybody."""
        state = self._state
        target = state.rng.choice([*(key for key in state.voters.keys if key != state.key), NOBODY])
        if state.leader is not None:
            # It may be gone: once asked, it must show itself.
            target, state.leader = state.leader, None
        state.send_now(
            ObserveRequest(sender=state.key, target=target, term=state.term, end_offset=state.log.end_offset)
        )
