"""Leadership given to another voter on purpose (dissertation, section 3.10).

The leader takes nothing new, lets the successor catch up, and tells it to stand at once. If nobody else leads
an election timeout later, it goes on as before.
"""

from penstock.model.ids import Millis
from penstock.raft.events import TransferRequested
from penstock.raft.leadership import Leadership
from penstock.raft.messages import TimeoutNow
from penstock.raft.output import HandedOver, Refusal
from penstock.raft.replica import ReplicaKey
from penstock.raft.state import NodeState


class Handover:
    """The part of a leader that looks for a successor."""

    __slots__ = ("_deadline", "_leadership", "_state", "_target", "_token")

    def __init__(self, state: NodeState, leadership: Leadership) -> None:
        self._state = state
        self._leadership = leadership
        self._target: ReplicaKey | None = None
        self._token: int | None = None
        self._deadline = state.now

    def begin(self, event: TransferRequested) -> None:
        """Prepare a successor."""
        target = event.target or self._leadership.voter_with_most()
        if self._leadership.is_handing_over:
            self._leadership.refuse(event.token, Refusal.HANDING_OVER)
        elif target is None or target == self._state.key or target not in self._state.voters:
            self._leadership.refuse(event.token, Refusal.NOT_A_VOTER)
        else:
            self._target, self._token = target, event.token
            self._deadline = Millis(self._state.now + self._state.settings.election_timeout_ms)
            self._leadership.is_handing_over = True
            self.finish_if_ready()

    def finish_if_ready(self) -> None:
        """Tell the successor to stand if it has everything, or stop waiting for it."""
        if self._target is None:
            return
        if self._token is not None and self._has_everything(self._target):
            self.tell(self._target)
            self._state.answer(HandedOver(token=self._token, target=self._target))
            self._token = None
        elif self._state.now >= self._deadline:
            self._give_up()

    def tell(self, target: ReplicaKey) -> None:
        """Let a voter stand for election now."""
        self._state.send_now(TimeoutNow(sender=self._state.key, target=target, term=self._state.term))

    def next_deadline(self) -> Millis | None:
        """When it stops waiting."""
        return None if self._target is None else self._deadline

    def waiting_tokens(self) -> list[int]:
        """Of requests that are not answered if the leadership ends now."""
        return [] if self._token is None else [self._token]

    def _has_everything(self, target: ReplicaKey) -> bool:
        progress = self._leadership.progress_of(target)
        return progress is not None and progress.match_offset == self._state.log.end_offset

    def _give_up(self) -> None:
        self._leadership.is_handing_over = False
        if self._token is not None:
            self._leadership.refuse(self._token, Refusal.NOT_CAUGHT_UP)
        self._target = self._token = None
