"""Who is in sync: whom a leader proposes, and whom the controller takes.

Each story is told to a whole cluster in memory, and fails by an assertion: its own, or one of the model's.
"""

from tests.replication.cluster_model import Cluster, FetchAsked, Fetched, IsrAsked
from tests.scenarios.cluster.partition_steps import (
    ONE,
    THREE,
    TWO,
    come_back,
    index_of,
    leader_alone_in_sync,
    values,
    write,
)
from tests.scenarios.cluster.story import about, story

from penstock.replication.leader_events import ProposalAnswered


@about("proposed-members-unheard", breaks="leader 1 does not count all")
@story
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


@about("broker-epochs-unchecked", breaks="another process of broker 2 is in sync")
@story
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
    assert cluster.partition.isr == (ONE,), "another process of broker 2 is in sync"
    cluster.check_invariants()


@about("fenced-members-accepted", breaks="broker 2 is fenced and in sync")
@story
def fenced_replica_is_not_let_into_the_set() -> None:
    """A member the controller does not hear from would be elected by nobody, and waited for by all."""
    cluster = leader_alone_in_sync()
    cluster.fetch(2)
    cluster.deliver(index_of(cluster, FetchAsked))
    cluster.fence(2)
    cluster.deliver(index_of(cluster, IsrAsked))
    assert cluster.partition.isr == (ONE,), "broker 2 is fenced and in sync"
    cluster.check_invariants()


@story
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


@about("answer-counts-at-once", "minimum-ignored", breaks="candidate 2 has [] of [1]")
@story
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


@about("anybody-let-in", breaks="broker 2 is in sync without")
@about("everybody-eligible", breaks="candidate 2 has [] of [1]")
@story
def follower_that_is_behind_is_not_let_in() -> None:
    """Who has not got everything committed must not be counted as if it had."""
    cluster = leader_alone_in_sync()
    write(cluster, 1)
    assert cluster.committed
    cluster.fetch(2)
    cluster.deliver_all()
    assert cluster.partition.isr == (ONE,), "broker 2 is in sync without what is committed"
    cluster.check_invariants()


@about("partition-epochs-unchecked", breaks="candidate 2 has [] of [1]")
@story
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


@about("epoch-start-forgotten", breaks="candidate 3 has [] of [1]")
@story
def new_leader_does_not_know_what_was_committed_before_it() -> None:
    """Its high watermark is older than its log: whoever has less than the log may lack what was committed."""
    cluster = Cluster(count=4, replication=4)
    cluster.fence(3)
    cluster.unfence(3)
    cluster.apply_all(1)
    committed = write(cluster, 1)
    for node_id in (2, 4):
        cluster.fetch(node_id)
        cluster.deliver_all()
        cluster.flush(node_id)
    for node_id in (2, 4):
        cluster.fetch(node_id)
        cluster.deliver(index_of(cluster, FetchAsked))
    cluster.network.clear()  # The leader commits; the answers that would say so are lost.
    assert cluster.committed == [committed]
    cluster.fence(1)
    assert cluster.partition.leader == TWO
    cluster.apply_all(2)
    cluster.apply_all(3)
    cluster.fetch(3)
    cluster.deliver_all()
    cluster.check_invariants()
    cluster.settle()
    assert THREE in cluster.partition.isr


STORIES = (
    controller_accepted_a_member_the_leader_has_not_heard_of,
    replica_restarts_with_less_while_it_is_being_let_into_the_set,
    fenced_replica_is_not_let_into_the_set,
    copy_of_a_refused_request_is_accepted_later,
    minimum_is_raised_while_the_set_shrinks,
    follower_that_is_behind_is_not_let_in,
    request_for_a_larger_set_is_overtaken_by_a_smaller_one,
    new_leader_does_not_know_what_was_committed_before_it,
)
