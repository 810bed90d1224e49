"""A bit turns over where somebody will look, and nowhere else."""

from random import Random

import pytest
from tests.broker.control.simulated_cluster import simulated

from penstock.sim.cluster.node import DATA_DIRECTORY
from penstock.sim.cluster.rot import spoil_log
from penstock.sim.runtime.disk import SimulatedDisk

METADATA_FILE = f"{DATA_DIRECTORY}/__cluster_metadata-0/00000000000000000000.log"


@pytest.fixture
def disk() -> SimulatedDisk:
    """Of a broker that ran for a while and lost power."""
    with simulated(1) as cluster:
        cluster.pass_time(1.0)
        (node,) = cluster.nodes
        node.lose_power()
        node.disk.power_loss()
        return node.disk


@pytest.mark.slow
def test_one_bit_of_a_log_is_turned_over(disk: SimulatedDisk) -> None:
    before = disk.read_file(METADATA_FILE)
    where = spoil_log(disk, "__cluster_metadata", Random(1))
    assert where is not None
    assert where.endswith(METADATA_FILE)
    after = disk.read_file(METADATA_FILE)
    changed = [one ^ other for one, other in zip(before, after, strict=True) if one != other]
    assert [change.bit_count() for change in changed] == [1]


@pytest.mark.slow
def test_topic_that_is_not_there_does_not_rot(disk: SimulatedDisk) -> None:
    assert spoil_log(disk, "orders", Random(1)) is None
