"""Who is in sync with a leader: what the metadata log says, and what has been proposed since.

Between a proposal and the log's word nobody knows which set holds, so both do: the *maximal* set. A proposal
that was refused counts on, since a copy of the request may still be on its way and be accepted later; it
stops counting when the log has moved the partition's epoch, which makes every copy stale.
"""

from collections.abc import Iterable
from enum import Enum, auto

from penstock.model.error_codes import RETRIABLE, ErrorCode
from penstock.model.ids import NodeId
from penstock.replication.leader_events import ProposeIsr

_REFUSED = frozenset(
    {ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INVALID_REQUEST}
)
"""After these another proposal may be made: the controller knew the partition's epoch, and wrote nothing."""

_ASK_AGAIN = (RETRIABLE | {ErrorCode.UNKNOWN_SERVER_ERROR}) - {
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
}
"""After these nobody knows whether it was written; asking again does no harm. After any other error the
metadata log will have something to say, and until then the proposal stands."""


class Fate(Enum):
    """What follows from the controller's answer to a proposal."""

    STANDS = auto()
    """The metadata log will say more."""

    ASK_AGAIN = auto()
    REFUSED = auto()
    WITHDRAW = auto()
    """Refused, and the log is to move on, so that no copy of it can be accepted any more."""


class InSyncSet:
    """The in-sync set of one partition during one leader epoch."""

    __slots__ = ("_proposed", "members", "proposal")

    def __init__(self, members: Iterable[NodeId]) -> None:
        #: As the metadata log has it.
        self.members = frozenset(members)
        #: What the controller was asked for and has not refused, nor the log answered.
        self.proposal: ProposeIsr | None = None
        #: Everybody who was proposed on the present partition epoch.
        self._proposed: frozenset[NodeId] = frozenset()

    @property
    def maximal(self) -> frozenset[NodeId]:
        """Everybody who is in sync, or might be in the controller's eyes."""
        return self.members | self._proposed if self._proposed else self.members

    @property
    def is_certain(self) -> bool:
        """Whether nobody counts who is not in the set."""
        return self._proposed <= self.members

    def log_says(self, members: Iterable[NodeId], *, has_moved: bool) -> None:
        """What holds now; if the partition's epoch ``has_moved``, nothing proposed before counts any more."""
        self.members = frozenset(members)
        if has_moved:
            self.proposal, self._proposed = None, frozenset()

    def propose(self, proposal: ProposeIsr) -> ProposeIsr:
        """The controller is about to be asked."""
        self.proposal = proposal
        self._proposed |= {node_id for node_id, _ in proposal.members}
        return proposal

    def answered(self, proposal: ProposeIsr, error_code: ErrorCode) -> Fate:
        """The controller has answered; an answer to another proposal changes nothing."""
        if proposal != self.proposal:
            return Fate.STANDS
        if error_code in _ASK_AGAIN:
            return Fate.ASK_AGAIN
        if error_code not in _REFUSED:
            return Fate.STANDS
        self.proposal = None
        is_withdrawal = {node_id for node_id, _ in proposal.members} <= self.members
        return Fate.REFUSED if is_withdrawal else Fate.WITHDRAW
