"""Machines lose power, of all brokers at once or with a bad disk: whoever comes back keeps what it has."""

import pytest
from tests.broker.control.simulated_cluster import simulated

from penstock.model.error_codes import ErrorCode
from penstock.sim.cluster.node import DATA_DIRECTORY
from penstock.sim.runtime.disk import Appointment


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_nobody_moves_partitions_aside_because_the_new_leader_knows_of_no_commit_yet(seed: int) -> None:
    with simulated(3, seed=seed) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        assert cluster.create(cluster.nodes[0], "orders", partitions=6) == ErrorCode.NONE
        cluster.until(lambda: all(len(broker.replicas) == 2 for broker in cluster.serving()))
        before = [node.disk.list_directory(DATA_DIRECTORY) for node in cluster.nodes]
        for node in cluster.nodes:
            node.lose_power()
        for node in cluster.nodes:
            node.boot()
        cluster.until(lambda: len(cluster.serving()) == 3)
        after = [node.disk.list_directory(DATA_DIRECTORY) for node in cluster.nodes]
        assert [[name for name in names if name.startswith("orders")] for names in after] == [
            [name for name in names if name.startswith("orders")] for names in before
        ]


@pytest.mark.slow
def test_new_partition_that_nobody_lived_to_make_is_led_when_they_are_back() -> None:
    with simulated(3) as cluster:
        cluster.until(lambda: cluster.voters() == [1, 2, 3])
        for node in cluster.nodes:
            node.disk.appointed.arrange(
                Appointment(operation="", path_part="/orders-0", ordinal=0, on_stop=node.lose_power)
            )
        cluster.begin_to_create(cluster.nodes[0], "orders", replicas=3)
        cluster.until(lambda: not any(node.is_up for node in cluster.nodes))
        for node in cluster.nodes:
            node.boot()
        cluster.until(lambda: len(cluster.serving()) == 3)
        cluster.until(lambda: cluster.image.topics["orders"].partitions[0].has_leader)


@pytest.mark.slow
def test_replica_whose_flush_fails_at_start_is_looked_at_again_and_not_given_up() -> None:
    with simulated(3) as cluster:
        assert cluster.create(cluster.nodes[0], "orders") == ErrorCode.NONE
        leader = cluster.node_of(cluster.image.topics["orders"].partitions[0].leader)
        leader.lose_power()
        leader.boot()
        leader.disk.fail_flush("orders-0", after=0)
        cluster.until(lambda: leader.is_serving)
        assert leader.boots == 3
        cluster.until(lambda: cluster.image.topics["orders"].partitions[0].has_leader)
