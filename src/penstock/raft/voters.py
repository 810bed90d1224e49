"""The set of voters and its arithmetic: what a majority is, and what a majority has.

A set never changes; a change makes another one that differs by one voter, so that every majority of the one
shares a voter with every majority of the other (dissertation, section 4.1).
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from penstock.model.errors import InvariantError
from penstock.raft.replica import ReplicaKey, Voter


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters in the order of their node ids, each node at most once."""

    voters: tuple[Voter, ...] = ()

    def __post_init__(self) -> None:
        nodes = [voter.key.node_id for voter in self.voters]
        if nodes != sorted(set(nodes)):
            raise InvariantError(f"voters {nodes} are not in order, each node once")

    def __len__(self) -> int:
        return len(self.voters)

    def __contains__(self, key: object) -> bool:
        return any(voter.key == key for voter in self.voters)

    def __str__(self) -> str:
        return ", ".join(str(voter.key) for voter in self.voters) or "nobody"

    @property
    def keys(self) -> tuple[ReplicaKey, ...]:
        """The voters without their addresses."""
        return tuple(voter.key for voter in self.voters)

    @property
    def majority(self) -> int:
        """How many voters any two groups of which share one."""
        return len(self.voters) // 2 + 1

    def has_majority(self, present: Collection[ReplicaKey]) -> bool:
        """Whether ``present`` holds a majority of the voters; never of an empty set."""
        return bool(self.voters) and sum(voter.key in present for voter in self.voters) >= self.majority

    def majority_has(self, reached: Callable[[ReplicaKey], int]) -> int:
        """The largest number that a majority has reached; -1 of an empty set."""
        if not self.voters:
            return -1
        return sorted((reached(voter.key) for voter in self.voters), reverse=True)[self.majority - 1]

    def of_node(self, node_id: int) -> Voter | None:
        """The voter on that node, whatever its disk."""
        return next((voter for voter in self.voters if voter.key.node_id == node_id), None)

    def including(self, voter: Voter) -> "VoterSet":
        """One voter more."""
        if self.of_node(voter.key.node_id) is not None:
            raise InvariantError(f"node {voter.key.node_id} is a voter already, among {self}")
        return voter_set((*self.voters, voter))

    def excluding(self, key: ReplicaKey) -> "VoterSet":
        """One voter less."""
        if key not in self:
            raise InvariantError(f"{key} is not among the voters {self}")
        return VoterSet(tuple(voter for voter in self.voters if voter.key != key))


def voter_set(voters: Iterable[Voter]) -> VoterSet:
    """These voters, put in order."""
    return VoterSet(tuple(sorted(voters, key=lambda voter: voter.key)))


NO_VOTERS = VoterSet()
"""What a node knows that has never heard of the cluster it is to join."""
