"""How restless the quorum is, as this node sees it since it started."""

from penstock.model.ids import NodeId
from penstock.raft.transition import Role, Transition


class ElectionCounts:
    """Counts changes of role as they come."""

    __slots__ = ("_leader", "elections", "leader_changes")

    def __init__(self) -> None:
        #: How often this node stood for election.
        self.elections = 0
        #: How often it learned of another leader than the one before, itself included.
        self.leader_changes = 0
        self._leader: NodeId | None = None

    def note(self, transition: Transition) -> None:
        """Something has changed."""
        if transition.after is Role.CANDIDATE:
            self.elections += 1
        leader = None if transition.leader is None else transition.leader.node_id
        if leader is not None and leader != self._leader:
            self._leader = leader
            self.leader_changes += 1
