"""Who leads: who may, who has to stop, and what became of those who waited.

Each story is told to a whole cluster in memory, and fails by an assertion: its own, or one of the model's.
"""

from tests.replication.cluster_model import Cluster
from tests.scenarios.cluster.partition_steps import ONE, THREE, TWO, come_back, values, write
from tests.scenarios.cluster.story import about, story

from penstock.metadata.fencing import fence


@about("losses-not-told", breaks="broker 1 leads and has lost")
@story
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
    assert cluster.partition.leader == -1, "broker 1 leads and has lost what was acknowledged"
    cluster.unfence(3)
    assert cluster.partition.leader == THREE
    cluster.unfence(2)
    cluster.settle()
    assert waiting not in cluster.acknowledged
    assert cluster.committed[:1] == [safe]
    assert values(cluster.nodes[ONE]) == values(cluster.nodes[THREE])
    cluster.check_invariants()


@story
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


@about("always-unclean", breaks="broker 2 leads without")
@story
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
    assert cluster.partition.leader == -1, "broker 2 leads without what was acknowledged"
    cluster.check_invariants()


@about("silent-members-dropped", breaks="broker 2 shows [1, 3], before it was [1, 2]")
@story
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


@story
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


@story
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


STORIES = (
    last_replica_standing_takes_nothing_with_it,
    deposed_leader_has_producers_waiting,
    minimum_is_lowered_while_somebody_is_eligible,
    minority_goes_on_alone,
    whole_cluster_loses_power,
    leader_stops_in_good_order,
)
