"""What a node must not forget: the latest term it has seen, and whom it voted for in it."""

from dataclasses import dataclass

from penstock.raft.replica import ReplicaKey


@dataclass(frozen=True, slots=True, kw_only=True)
class HardState:
    """Written before any message that rests on it leaves (section 5.1 and figure 2 of the paper)."""

    #: Moves only forward.
    term: int = 0
    #: Given in ``term``, never taken back; ``NOBODY`` when a damaged file tells only that it was given.
    voted_for: ReplicaKey | None = None
    #: The log was damaged and cut below this offset: the node vouches for nothing, neither votes nor stands,
    #: until it has everything below again, committed and on disk. 0 when all is well.
    quarantined_below: int = 0


NEW_HARD_STATE = HardState()
"""Of a node that has never heard anything."""
