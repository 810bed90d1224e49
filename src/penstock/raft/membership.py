"""Changes of the set of voters, one voter at a time (dissertation, chapter 4).

Three rules make single steps safe: the leader has committed an entry of its own term first (the correction of
2015, without which two leaders' changes may overlap unseen), the last change is committed, and the new set
differs by one.
"""

from penstock.model.ids import Millis
from penstock.raft.events import AddVoterRequested, RemoveVoterRequested
from penstock.raft.leadership import Leadership
from penstock.raft.output import Refusal
from penstock.raft.promotion import Promotion
from penstock.raft.state import NodeState


class Membership:
    """The part of a leader that admits and removes voters."""

    __slots__ = ("_leadership", "_promotion", "_state")

    def __init__(self, state: NodeState, leadership: Leadership) -> None:
        self._state = state
        self._leadership = leadership
        self._promotion: Promotion | None = None

    def add(self, event: AddVoterRequested) -> None:
        """Have an observer catch up, and then give it a vote."""
        refusal = self._refusal() or self._refusal_to_add(event)
        if refusal is not None:
            self._leadership.refuse(event.token, refusal)
            return
        state = self._state
        self._promotion = Promotion(
            token=event.token,
            voter=event.voter,
            deadline=Millis(state.now + state.settings.promotion_timeout_ms),
            round_began_at=state.now,
            round_end_offset=state.log.end_offset,
        )
        self.promote_if_ready()

    def remove(self, event: RemoveVoterRequested) -> None:
        """Take a vote away."""
        voters = self._state.voters
        refusal = self._refusal()
        if refusal is None and event.key not in voters:
            refusal = Refusal.NOT_A_VOTER
        if refusal is None and len(voters) == 1:
            refusal = Refusal.LAST_VOTER
        if refusal is None and not self._leadership.can_rely_on(voters.excluding(event.key)):
            # With one of three dead, to remove another by mistake would leave two that must agree: for ever.
            refusal = Refusal.QUORUM_AT_RISK
        if refusal is not None:
            self._leadership.refuse(event.token, refusal)
        else:
            self._leadership.append_voters(voters.excluding(event.key), event.token)

    def promote_if_ready(self) -> None:
        """Let the newcomer vote if it has caught up, or give it up if it took too long."""
        promotion, state = self._promotion, self._state
        if promotion is None:
            return
        progress = self._leadership.progress_of(promotion.voter.key)
        if progress is None or state.now >= promotion.deadline:
            self._give_up(promotion, Refusal.NOT_CAUGHT_UP)
        elif self._has_pending_change():
            self._give_up(promotion, Refusal.CHANGE_PENDING)
        elif promotion.has_caught_up(
            progress.match_offset,
            end_offset=state.log.end_offset,
            now=state.now,
            round_max_ms=state.settings.election_timeout_ms,
        ):
            self._promotion = None
            self._leadership.append_voters(state.voters.including(promotion.voter), promotion.token)

    def waiting_tokens(self) -> list[int]:
        """Of requests that are not answered if the leadership ends now."""
        return [] if self._promotion is None else [self._promotion.token]

    def _refusal(self) -> Refusal | None:
        if not self._knows_its_predecessors():
            return Refusal.NEW_LEADER
        if self._promotion is not None or self._has_pending_change():
            return Refusal.CHANGE_PENDING
        return Refusal.HANDING_OVER if self._leadership.is_handing_over else None

    def _refusal_to_add(self, event: AddVoterRequested) -> Refusal | None:
        if self._state.voters.of_node(event.voter.key.node_id) is not None:
            return Refusal.ALREADY_A_VOTER
        if self._leadership.progress_of(event.voter.key) is None:
            return Refusal.NOT_FOLLOWING
        return None

    def _knows_its_predecessors(self) -> bool:
        return self._leadership.has_committed_in_its_term

    def _has_pending_change(self) -> bool:
        return self._state.log.voters.latest_end_offset > self._state.commit_offset

    def _give_up(self, promotion: Promotion, reason: Refusal) -> None:
        self._promotion = None
        self._leadership.refuse(promotion.token, reason)
