"""Copies of a log: what followers ask for, take, and cut off.

Each story is told to a whole cluster in memory, and fails by an assertion: its own, or one of the model's.
"""

from tests.replication.cluster_model import Cluster, FetchAsked, Fetched, Message
from tests.scenarios.cluster.partition_steps import (
    ONE,
    THREE,
    TWO,
    come_back,
    index_of,
    values,
    write,
)
from tests.scenarios.cluster.story import about, story


@story
def truncation_to_the_high_watermark_loses_records() -> None:
    """KIP-101, first story: a follower restarts before it has heard that its last record is committed.

    It kept everything it had on disk, so it is eligible still; then the leader dies.
    """
    cluster = Cluster(replication=2, minimum=2)
    first, second = write(cluster, 1), write(cluster, 1)
    cluster.fetch(2)
    cluster.deliver_all()
    cluster.flush(2)
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))  # The leader commits; the answer that says so is lost.
    cluster.network.clear()
    assert cluster.committed == [first, second]
    cluster.crash(2)
    come_back(cluster, 2)
    cluster.apply_all(2)
    cluster.check_invariants()
    cluster.crash(1)
    cluster.fence(1)
    cluster.apply_all(2)
    assert cluster.partition.leader == TWO
    assert values(cluster.nodes[TWO]) == [first, second]
    cluster.check_invariants()


@story
def leader_that_lost_its_unflushed_end_is_not_equal_by_length() -> None:
    """KIP-101, second story: two logs of one length with different records."""
    cluster = Cluster(replication=2)
    common = write(cluster, 1)
    cluster.settle()
    lost = cluster.produce(1)
    cluster.crash(1, keeps_cache=True)
    cluster.fence(1)
    cluster.settle()
    kept = write(cluster, 2)
    assert values(cluster.nodes[ONE]) == [common, lost]
    come_back(cluster, 1)
    cluster.settle()
    assert values(cluster.nodes[ONE]) == values(cluster.nodes[TWO]) == [common, kept]
    cluster.check_invariants()


@story
def leader_in_between_whose_records_nobody_has() -> None:
    """KIP-279: an epoch that the present leader never saw."""
    cluster = Cluster(minimum=2)
    common = write(cluster, 1)
    cluster.settle()
    cluster.fence(1)
    for node_id in (1, 2, 3):
        cluster.apply_all(node_id)
    assert cluster.partition.leader == TWO
    orphans = [cluster.produce(2), cluster.produce(2)]
    cluster.flush(2)
    cluster.crash(2)
    cluster.unfence(1)
    cluster.fence(2)
    for node_id in (1, 3):
        cluster.apply_all(node_id)
    leader = cluster.partition.leader
    assert leader in (ONE, THREE)
    assert values(cluster.nodes[TWO]) == [common, *orphans]
    cluster.settle()
    kept = write(cluster, leader)
    come_back(cluster, 2)
    cluster.settle(rounds=6)
    for node in cluster.nodes.values():
        assert values(node) == [common, kept]
    cluster.check_invariants()


@about("followers-show-too-much", breaks="broker 3 shows")
@story
def follower_asks_a_leader_of_the_past() -> None:
    """KIP-320: what a deposed leader says of its log must not cut off what its successor has."""
    cluster = Cluster()
    common = write(cluster, 1)
    cluster.settle()
    cluster.fence(1)
    cluster.apply_all(2)
    cluster.apply_all(3)
    new = write(cluster, 2)
    cluster.fetch(3)
    cluster.deliver(index_of(cluster, FetchAsked, to=2))
    cluster.deliver(index_of(cluster, Fetched, to=3))
    cluster.flush(3)
    assert values(cluster.nodes[THREE]) == [common, new]
    # Broker 1 has not heard; it still takes itself for the leader, with a shorter log.
    cluster.fetch(3)
    index = index_of(cluster, FetchAsked, to=2)
    asked = cluster.network.pop(index)
    cluster.network.insert(index, Message(to=ONE, process=asked.process, body=asked.body))
    old_leader = cluster.nodes[ONE].replica
    assert old_leader is not None
    assert old_leader.leader is not None
    cluster.deliver_all()
    assert values(cluster.nodes[THREE]) == [common, new]
    progress = old_leader.leader.follower(THREE)
    assert progress is not None
    assert progress.end_offset <= 1
    cluster.check_invariants()


@about("leader-epochs-unchecked", breaks="candidate 3 has [] of [1]")
@story
def replica_goes_and_comes_back_empty() -> None:
    """What the leader knew of a replica that was moved away must not count when it is moved back."""
    cluster = Cluster()
    cluster.reassign(1, 2)
    cluster.settle()
    assert cluster.partition.replicas == (ONE, TWO)
    cluster.reassign(1, 2, 3)
    cluster.apply_all(1)
    cluster.apply_all(2)
    write(cluster, 1)
    cluster.apply_all(3)
    cluster.settle(rounds=1)
    cluster.check_invariants()
    # The fetch of its former life, still on its way: made with everything, arriving with nothing.
    full = Cluster()
    first = write(full, 1)
    full.settle()
    full.fetch(3)
    former = full.network.pop(index_of(full, FetchAsked))
    full.reassign(1, 2)
    for node_id in (1, 2, 3):
        full.apply_all(node_id)
    full.settle(rounds=2)
    full.reassign(1, 2, 3)
    for node_id in (1, 2, 3):
        full.apply_all(node_id)
    assert values(full.nodes[THREE]) == []
    full.network.append(former)
    full.deliver(len(full.network) - 1)
    full.deliver_all()
    full.check_invariants()
    assert THREE not in full.partition.isr
    full.settle()
    assert values(full.nodes[THREE]) == [first]
    full.settle()
    assert THREE in full.partition.isr
    full.check_invariants()


@about("follower-promises-unflushed", "leader-commits-alone", breaks="candidate 2 has [] of [1]")
@story
def follower_loses_power_before_it_flushed() -> None:
    """A fetch is a promise: what lies before its offset is on disk, not only in memory."""
    cluster = Cluster(replication=2)
    value = write(cluster, 1)
    cluster.fetch(2)
    cluster.deliver_all()
    assert values(cluster.nodes[TWO]) == [value]
    cluster.fetch(2)
    cluster.deliver_all()
    cluster.crash(2)
    cluster.check_invariants()
    assert cluster.acknowledged == set()


@about("late-answers-believed", "stale-fetches-believed", breaks="it has lost acknowledged records")
@story
def answer_comes_again_when_the_log_has_changed() -> None:
    """What the leader once found to be of another log is the leader's own by now, at the same offset."""
    cluster = Cluster(replication=2)
    write(cluster, 1)
    cluster.fence(1)
    cluster.apply_all(2)
    write(cluster, 2)
    cluster.apply_all(1)
    cluster.unfence(1)
    cluster.fetch(1)
    cluster.deliver(index_of(cluster, FetchAsked, to=2))
    cluster.deliver(index_of(cluster, Fetched), keep_copy=True)  # It diverges, and is cut.
    again = cluster.network.pop(index_of(cluster, Fetched))
    cluster.settle()
    assert set(cluster.partition.isr) == {ONE, TWO}
    cluster.fetch(1)
    cluster.network.insert(0, again)
    cluster.deliver()
    cluster.check_invariants()


@about("cut-at-high-watermark", breaks="candidate 2 has [] of [1]")
@story
def member_cuts_what_its_leader_does_not_have_and_no_more() -> None:
    """KIP-101, the rule: a record is committed before a follower has heard so, and must not be cut off."""
    cluster = Cluster()
    cluster.reassign(1, 3, 2)
    cluster.settle()
    committed = write(cluster, 1)
    for node_id in (2, 3):
        cluster.fetch(node_id)
        cluster.deliver_all()
        cluster.flush(node_id)
    write(cluster, 1)
    for node_id in (2, 3):  # The answer to 2 has one record more, and the one to 3 is lost.
        cluster.fetch(node_id)
        cluster.deliver(index_of(cluster, FetchAsked))
    cluster.deliver(index_of(cluster, Fetched, to=2))
    cluster.network.clear()
    cluster.flush(2)
    assert cluster.committed == [committed]
    cluster.fence(1)
    assert cluster.partition.leader == THREE
    cluster.apply_all(2)
    cluster.apply_all(3)
    cluster.fetch(2)
    cluster.deliver_all()
    assert TWO in cluster.partition.isr
    cluster.check_invariants()


STORIES = (
    truncation_to_the_high_watermark_loses_records,
    leader_that_lost_its_unflushed_end_is_not_equal_by_length,
    leader_in_between_whose_records_nobody_has,
    follower_asks_a_leader_of_the_past,
    replica_goes_and_comes_back_empty,
    follower_loses_power_before_it_flushed,
    answer_comes_again_when_the_log_has_changed,
    member_cuts_what_its_leader_does_not_have_and_no_more,
)
