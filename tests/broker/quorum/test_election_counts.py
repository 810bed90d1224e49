from penstock.broker.quorum.election_counts import ElectionCounts
from penstock.model.ids import NodeId
from penstock.raft.replica import ReplicaKey
from penstock.raft.transition import Cause, Role, Transition

ONE = ReplicaKey(node_id=NodeId(1), directory_id=b"1" * 16)
TWO = ReplicaKey(node_id=NodeId(2), directory_id=b"2" * 16)


def change(before: Role, after: Role, leader: ReplicaKey | None) -> Transition:
    return Transition(before=before, after=after, term=1, leader=leader, cause=Cause.STARTED)


def test_own_elections_and_other_leaders_are_counted() -> None:
    counts = ElectionCounts()
    for transition in (
        change(Role.FOLLOWER, Role.PRE_CANDIDATE, None),
        change(Role.PRE_CANDIDATE, Role.CANDIDATE, None),
        change(Role.CANDIDATE, Role.CANDIDATE, None),
        change(Role.CANDIDATE, Role.LEADER, ONE),
        change(Role.LEADER, Role.FOLLOWER, None),
        change(Role.FOLLOWER, Role.FOLLOWER, ONE),
        change(Role.FOLLOWER, Role.FOLLOWER, TWO),
    ):
        counts.note(transition)
    assert (counts.elections, counts.leader_changes) == (2, 2)
