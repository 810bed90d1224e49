from penstock.model.ids import Millis, NodeId
from penstock.replication.read_replica import ReadableReplica, preferred_read_replica

LEADER = NodeId(1)


def replica(node_id: int, rack: str | None, end: int = 100, caught_up: int = 0) -> ReadableReplica:
    return ReadableReplica(
        node_id=NodeId(node_id), rack=rack, log_end_offset=end, caught_up_at=Millis(caught_up)
    )


def choose(*replicas: ReadableReplica, rack: str = "b", offset: int = 50) -> NodeId | None:
    return preferred_read_replica(replicas, leader=LEADER, consumer_rack=rack, fetch_offset=offset)


def test_replica_in_the_consumers_rack_is_preferred() -> None:
    assert choose(replica(1, "a"), replica(2, "b"), replica(3, "c")) == 2


def test_consumer_without_a_rack_reads_from_the_leader() -> None:
    assert choose(replica(1, "a"), replica(2, ""), rack="") is None


def test_leader_in_the_rack_is_preferred_to_others_there() -> None:
    assert choose(replica(1, "b"), replica(2, "b")) is None


def test_nobody_in_the_rack_leaves_the_leader() -> None:
    assert choose(replica(1, "a"), replica(2, None)) is None


def test_replica_that_does_not_have_the_offset_is_not_chosen() -> None:
    assert choose(replica(1, "a"), replica(2, "b", end=49)) is None
    assert choose(replica(1, "a"), replica(2, "b", end=50)) == 2


def test_furthest_replica_is_chosen_then_the_one_caught_up_last_then_the_lowest_id() -> None:
    assert choose(replica(2, "b", end=60), replica(3, "b", end=70)) == 3
    assert choose(replica(2, "b", caught_up=5), replica(3, "b", caught_up=9)) == 3
    assert choose(replica(3, "b"), replica(2, "b")) == 2
