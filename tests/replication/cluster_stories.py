"""Stories that replicated logs have come to grief over, each told to a whole cluster in memory.

A story fails by an assertion: its own, or one of the model's invariants.
"""

from tests.replication.cluster_model import Cluster, FetchAsked, Fetched, IsrAsked, Message, Node

from penstock.metadata.fencing import fence
from penstock.model.ids import NodeId
from penstock.replication.leader_events import ProposalAnswered

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)


def values(node: Node) -> list[int]:
    return [entry.value for entry in node.log]


def index_of(cluster: Cluster, body: type, *, to: int | None = None) -> int:
    """Where the first message of a kind is in the network."""
    return next(
        index
        for index, message in enumerate(cluster.network)
        if isinstance(message.body, body) and (to is None or message.to == to)
    )


def write(cluster: Cluster, leader: int) -> int:
    value = cluster.produce(leader)
    assert value is not None
    cluster.flush(leader)
    return value


def come_back(cluster: Cluster, node_id: int) -> None:
    """A broker starts, registers, and is let in."""
    cluster.restart(node_id)
    cluster.unfence(node_id)


def leader_alone_in_sync() -> Cluster:
    """Broker 2 was away for a moment, and is about to catch up with broker 1."""
    cluster = Cluster(replication=2)
    cluster.fence(2)
    cluster.unfence(2)
    cluster.apply_all(1)
    cluster.apply_all(2)
    return cluster


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


def last_replica_standing_takes_nothing_with_it() -> None:
    """KIP-966: the set has shrunk to the leader, whose disk then fails."""
    cluster = Cluster(minimum=2)
    safe = write(cluster, 1)
    cluster.settle()
    assert cluster.acknowledged == {safe}
    waiting = cluster.produce(1)
    cluster.flush(1)
    cluster.fence(2, 3)
    cluster.apply_all(1)
    assert cluster.partition.isr == (ONE,)
    assert set(cluster.partition.eligible_leader_replicas) == {TWO, THREE}
    assert cluster.produce(1) is None  # NOT_ENOUGH_REPLICAS
    cluster.crash(1, loses=99)
    cluster.fence(1)
    cluster.check_invariants()
    come_back(cluster, 1)
    assert cluster.partition.leader == -1
    cluster.unfence(3)
    assert cluster.partition.leader == THREE
    cluster.unfence(2)
    cluster.settle()
    assert waiting not in cluster.acknowledged
    assert cluster.committed[:1] == [safe]
    assert values(cluster.nodes[ONE]) == values(cluster.nodes[THREE])
    cluster.check_invariants()


def controller_accepted_a_member_the_leader_has_not_heard_of() -> None:
    """The maximal-ISR race: growth is accepted, and the new member elected, before the leader knows."""
    cluster = leader_alone_in_sync()
    assert cluster.partition.isr == (ONE,)
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))
    cluster.deliver(index_of(cluster, IsrAsked))
    assert set(cluster.partition.isr) == {ONE, TWO}
    cluster.network.clear()
    unsafe = write(cluster, 1)
    assert cluster.committed == []
    cluster.check_invariants()
    cluster.fence(1)
    assert cluster.partition.leader == TWO
    cluster.apply_all(2)
    other = write(cluster, 2)
    cluster.apply_all(1)
    cluster.unfence(1)
    cluster.settle()
    assert unsafe not in cluster.acknowledged
    assert values(cluster.nodes[ONE]) == [other]
    cluster.check_invariants()


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


def deposed_leader_has_producers_waiting() -> None:
    """Whoever waits for acks=all at a leader that is none any more hears so, and not that it is safe."""
    cluster = Cluster()
    waiting = write(cluster, 1)
    assert cluster.nodes[ONE].waiting
    cluster.fence(1)
    cluster.apply_all(2)
    cluster.apply_all(3)
    kept = write(cluster, 2)
    cluster.apply_all(1)
    assert cluster.nodes[ONE].waiting == []
    assert waiting not in cluster.acknowledged
    cluster.unfence(1)
    cluster.settle()
    assert values(cluster.nodes[ONE]) == [kept]
    assert cluster.acknowledged == {kept}
    cluster.check_invariants()


def replica_restarts_with_less_while_it_is_being_let_into_the_set() -> None:
    """KIP-903: the process that caught up is not the process that is there when the controller decides."""
    cluster = leader_alone_in_sync()
    write(cluster, 1)
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))
    cluster.deliver(index_of(cluster, Fetched))
    cluster.flush(2)
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))
    assert cluster.committed
    cluster.crash(2, loses=99)
    come_back(cluster, 2)
    cluster.deliver(index_of(cluster, IsrAsked))
    assert cluster.partition.isr == (ONE,)
    cluster.check_invariants()


def fenced_replica_is_not_let_into_the_set() -> None:
    """A member the controller does not hear from would be elected by nobody, and waited for by all."""
    cluster = leader_alone_in_sync()
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))
    cluster.fence(2)
    cluster.deliver(index_of(cluster, IsrAsked))
    assert cluster.partition.isr == (ONE,)
    cluster.check_invariants()


def copy_of_a_refused_request_is_accepted_later() -> None:
    """The leader was told no, and gave up its proposal; then a copy of the request arrives, and it is yes."""
    cluster = leader_alone_in_sync()
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))
    cluster.fence(2)
    index = index_of(cluster, IsrAsked)
    cluster.deliver(index, keep_copy=True)
    copy = cluster.network.pop(index)
    cluster.deliver(index_of(cluster, ProposalAnswered))
    cluster.network.clear()
    cluster.unfence(2)
    cluster.network.append(copy)
    cluster.deliver()
    assert set(cluster.partition.isr) == {ONE, TWO}
    write(cluster, 1)
    cluster.check_invariants()
    assert cluster.committed == []


def minimum_is_raised_while_the_set_shrinks() -> None:
    """The leader asks under the old minimum, the controller answers under the new one."""
    cluster = Cluster(replication=2)
    cluster.pass_time()
    unsafe = write(cluster, 1)
    cluster.look_who_keeps_up(1)
    cluster.set_minimum(2)
    cluster.deliver(index_of(cluster, IsrAsked))
    assert cluster.partition.eligible_leader_replicas == (TWO,)
    cluster.deliver(index_of(cluster, ProposalAnswered))
    cluster.check_invariants()
    cluster.apply_all(1)
    cluster.check_invariants()
    assert unsafe not in cluster.acknowledged


def minimum_is_lowered_while_somebody_is_eligible() -> None:
    """What the leader may commit alone from now on, the eligible ones will not have."""
    cluster = Cluster(minimum=2)
    cluster.fence(2, 3)
    cluster.set_minimum(1)
    cluster.apply_all(1)
    kept = write(cluster, 1)
    assert cluster.acknowledged == {kept}
    cluster.check_invariants()
    cluster.crash(1)
    cluster.fence(1)
    cluster.unfence(2)
    assert cluster.partition.leader == -1
    cluster.check_invariants()


def minority_goes_on_alone() -> None:
    """A leader that is cut off from everybody acknowledges nothing, and shows nothing new."""
    cluster = Cluster(minimum=2)
    safe = write(cluster, 1)
    cluster.settle()
    cluster.fence(1)
    cluster.apply_all(2)
    cluster.apply_all(3)
    lost = write(cluster, 1)
    cluster.pass_time()
    cluster.look_who_keeps_up(1)
    cluster.network.clear()  # Nobody hears it.
    kept = write(cluster, 2)
    for node_id in (3, 3):
        cluster.fetch(node_id)
        cluster.deliver_all()
        cluster.flush(node_id)
    cluster.fetch(3)
    cluster.deliver_all()
    assert cluster.acknowledged == {safe, kept}
    old = cluster.nodes[ONE].replica
    assert old is not None
    assert old.high_watermark == 1
    assert lost not in cluster.committed
    cluster.check_invariants()


def whole_cluster_loses_power() -> None:
    """Everybody at once: what was acknowledged was on every disk, so whoever is back first may lead."""
    cluster = Cluster(minimum=2)
    safe = write(cluster, 1)
    cluster.settle()
    cluster.produce(1)
    for node_id in (1, 2, 3):
        cluster.crash(node_id)
    cluster.fence(1, 2, 3)
    assert set(cluster.partition.eligible_leader_replicas) == {ONE, TWO, THREE}
    come_back(cluster, 3)
    assert cluster.partition.leader == THREE
    cluster.check_invariants()
    come_back(cluster, 1)
    come_back(cluster, 2)
    cluster.settle(rounds=6)
    assert set(cluster.partition.isr) == {ONE, TWO, THREE}
    assert cluster.committed == [safe]
    cluster.check_invariants()


def leader_stops_in_good_order() -> None:
    """Leadership moves first; nothing is lost, and the broker is in sync again when it is back."""
    cluster = Cluster()
    first = write(cluster, 1)
    cluster.settle()
    cluster.begin_shutdown(1)
    cluster.settle()
    assert cluster.partition.leader == TWO
    cluster._append(fence(cluster.image, ONE))
    cluster.crash(1)
    second = write(cluster, 2)
    cluster.settle()
    come_back(cluster, 1)
    cluster.settle(rounds=6)
    assert cluster.acknowledged == {first, second}
    cluster.elect_preferred()
    cluster.settle()
    assert cluster.partition.leader == ONE
    cluster.check_invariants()


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


def follower_that_is_behind_is_not_let_in() -> None:
    """Who has not got everything committed must not be counted as if it had."""
    cluster = leader_alone_in_sync()
    write(cluster, 1)
    assert cluster.committed
    cluster.fetch(2)
    cluster.deliver_all()
    assert cluster.partition.isr == (ONE,)
    cluster.check_invariants()


def request_for_a_larger_set_is_overtaken_by_a_smaller_one() -> None:
    """A member left while the request was on its way, and came back too late for what was committed."""
    cluster = Cluster()
    cluster.fence(3)
    cluster.unfence(3)
    cluster.apply_all(1)
    cluster.apply_all(3)
    cluster.fetch(3)
    cluster.deliver(index_of(cluster, FetchAsked))
    late = cluster.network.pop(index_of(cluster, IsrAsked))
    cluster.fence(2)
    cluster.unfence(2)
    cluster.apply_all(1)
    value = write(cluster, 1)
    cluster.fetch(3)
    cluster.network.clear()
    cluster.nodes[THREE].log.clear()
    cluster.pass_time()
    cluster.look_who_keeps_up(1)
    assert cluster.acknowledged == {value}
    cluster.network.append(late)
    cluster.deliver_all()
    cluster.check_invariants()


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


STORIES = (
    answer_comes_again_when_the_log_has_changed,
    follower_loses_power_before_it_flushed,
    follower_that_is_behind_is_not_let_in,
    request_for_a_larger_set_is_overtaken_by_a_smaller_one,
    truncation_to_the_high_watermark_loses_records,
    leader_that_lost_its_unflushed_end_is_not_equal_by_length,
    leader_in_between_whose_records_nobody_has,
    follower_asks_a_leader_of_the_past,
    last_replica_standing_takes_nothing_with_it,
    controller_accepted_a_member_the_leader_has_not_heard_of,
    replica_goes_and_comes_back_empty,
    deposed_leader_has_producers_waiting,
    replica_restarts_with_less_while_it_is_being_let_into_the_set,
    fenced_replica_is_not_let_into_the_set,
    copy_of_a_refused_request_is_accepted_later,
    minimum_is_raised_while_the_set_shrinks,
    minimum_is_lowered_while_somebody_is_eligible,
    minority_goes_on_alone,
    whole_cluster_loses_power,
    leader_stops_in_good_order,
)
