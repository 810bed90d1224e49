"""A node without a vote looks for a leader to be fed by: leaders know of voters, not of observers."""

from penstock.model.ids import Millis
from penstock.raft.messages import ObserveRequest, ObserveResponse
from penstock.raft.replica import NOBODY
from penstock.raft.state import NodeState
from penstock.raft.transition import Role


class Observing:
    """The part of a node that asks to be told."""

    __slots__ = ("_state", "ask_at")

    def __init__(self, state: NodeState) -> None:
        self._state = state
        #: When it asks next, unless a leader speaks before.
        self.ask_at = state.now

    def ask_if_due(self) -> None:
        """Ask, if nobody leads as far as this node can hear."""
        state = self._state
        if state.now < self.ask_at:
            return
        self.ask_at = Millis(state.now + state.settings.election_timeout_ms)
        if not state.hears_a_leader:
            self._ask()

    def on_response(self, response: ObserveResponse) -> None:
        """Ask the one that was named, if that is news."""
        state = self._state
        is_news = response.leader not in (None, state.key) and state.leader is None
        if state.role is Role.OBSERVER and is_news and response.term == state.term:
            state.leader = response.leader
            self._ask()

    def _ask(self) -> None:
        """Whom it takes for the leader, else some voter, else anybody."""
        state = self._state
        others = [key for key in state.voters.keys if key != state.key]
        target = state.rng.choice(others) if others else NOBODY
        if state.leader is not None:
            # It may be gone: once asked, it must show itself.
            target, state.leader = state.leader, None
        state.send_now(
            ObserveRequest(sender=state.key, target=target, term=state.term, end_offset=state.log.end_offset)
        )
