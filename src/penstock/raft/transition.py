"""The roles of a node, and every change of them as data, with its cause, for the shell to log."""

from dataclasses import dataclass
from enum import StrEnum

from penstock.model.errors import InvariantError
from penstock.raft.replica import ReplicaKey


class Role(StrEnum):
    """What a node is at present."""

    #: Has no vote: follows and learns.
    OBSERVER = "observer"
    FOLLOWER = "follower"
    #: Asks whether it would be elected, before it disturbs anybody with a new term.
    PRE_CANDIDATE = "pre-candidate"
    CANDIDATE = "candidate"
    LEADER = "leader"


class Cause(StrEnum):
    """Why something changed."""

    STARTED = "started"
    LEADER_SILENT = "nothing was heard from a leader"
    LEADER_UNREACHABLE = "the connection to the leader broke, and nothing was heard since"
    ELECTION_UNDECIDED = "the election was not decided in time"
    PRE_VOTE_WON = "a majority would vote for it"
    ELECTED = "a majority voted for it"
    TOLD_TO_STAND = "the leader handed over"
    HIGHER_TERM_SEEN = "somebody has a higher term"
    LEADER_FOUND = "a leader made itself known"
    QUORUM_LOST = "no majority answered"
    REMOVED = "it is no longer a voter"
    ADMITTED = "it is a voter now"


_ALLOWED = {
    Role.OBSERVER: {Role.OBSERVER, Role.FOLLOWER, Role.PRE_CANDIDATE, Role.CANDIDATE},
    Role.FOLLOWER: {Role.OBSERVER, Role.FOLLOWER, Role.PRE_CANDIDATE, Role.CANDIDATE},
    Role.PRE_CANDIDATE: {Role.OBSERVER, Role.FOLLOWER, Role.PRE_CANDIDATE, Role.CANDIDATE},
    Role.CANDIDATE: {Role.OBSERVER, Role.FOLLOWER, Role.PRE_CANDIDATE, Role.CANDIDATE, Role.LEADER},
    Role.LEADER: {Role.OBSERVER, Role.FOLLOWER},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One change of role, term or leader."""

    before: Role
    after: Role
    #: After the change.
    term: int
    leader: ReplicaKey | None
    cause: Cause

    def __str__(self) -> str:
        whom = f", led by {self.leader}" if self.leader is not None else ""
        return f"{self.before} -> {self.after} in term {self.term}{whom}: {self.cause}"


def check_transition(before: Role, after: Role) -> None:
    """Raise ``InvariantError`` for a change that the algorithm does not have."""
    if after not in _ALLOWED[before]:
        raise InvariantError(f"a {before} cannot become a {after}")
