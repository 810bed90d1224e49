"""Any step at any time: walks through all that can happen to a cluster, with every promise checked."""

import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.replication.cluster_model import Cluster, possible_steps

WALKS = 25
STEPS = 300


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(WALKS))
def test_walk_breaks_no_promise(seed: int) -> None:
    rng = random.Random(f"walk/{seed}")
    cluster = Cluster(count=rng.choice((3, 4)), minimum=rng.choice((1, 2, 3)))
    for _ in range(STEPS):
        steps = possible_steps(cluster)
        (step,) = rng.choices(steps, [each.weight for each in steps])
        step.do()
        cluster.check_invariants()


@pytest.mark.slow
def test_cluster_left_in_peace_gets_everything_in_sync() -> None:
    """Faults first, then peace: the partition is led, and every replica is in sync again."""
    for seed in range(10):
        rng = random.Random(f"heal/{seed}")
        cluster = Cluster(minimum=2)
        for _ in range(150):
            steps = [step for step in possible_steps(cluster) if "bad disk" not in step.name]
            rng.choices(steps, [each.weight for each in steps])[0].do()
        for node_id, node in cluster.nodes.items():
            if not node.is_alive:
                cluster.restart(node_id)
            if not cluster.image.brokers[node_id].is_active:
                cluster.crash(node_id)
                cluster.restart(node_id)
                cluster.unfence(node_id)
        cluster.reassign(1, 2, 3)
        for _ in range(12):
            cluster.pass_time(2)
            for node_id in cluster.nodes:
                cluster.time_out_fetch(node_id)
                cluster.look_who_keeps_up(node_id)
            cluster.settle(rounds=2)
        assert set(cluster.partition.isr) == {1, 2, 3}, f"seed {seed}: {cluster.partition}"
        value = cluster.produce(cluster.partition.leader)
        cluster.settle()
        assert value in cluster.acknowledged
        cluster.check_invariants()


class ClusterMachine(RuleBasedStateMachine):
    """The same search, by Hypothesis: what it finds, it makes short."""

    @initialize(count=st.integers(3, 4), minimum=st.integers(1, 3))
    def begin(self, count: int, minimum: int) -> None:
        self.cluster = Cluster(count=count, minimum=minimum)
        self.told: list[str] = []

    @rule(choice=st.integers(0, 9_999))
    def step(self, choice: int) -> None:
        steps = possible_steps(self.cluster)
        chosen = [step for step in steps for _ in range(step.weight)][choice % sum(s.weight for s in steps)]
        self.told.append(chosen.name)
        chosen.do()

    @invariant()
    def promises_hold(self) -> None:
        if hasattr(self, "cluster"):
            self.cluster.check_invariants()


TestCluster = pytest.mark.slow(ClusterMachine.TestCase)
TestCluster.settings = settings(max_examples=25, stateful_step_count=80, deadline=None)
