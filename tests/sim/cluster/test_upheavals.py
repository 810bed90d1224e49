"""Faults that only clusters know, one at a time, and what comes of them."""

from dataclasses import replace

import pytest

from penstock.sim.cluster.cluster import Cluster
from penstock.sim.cluster.drawing import _SELDOM_CHECKPOINTED, draw_plan
from penstock.sim.cluster.faults import (
    Controller,
    Decommission,
    Fault,
    FaultKind,
    IsolateSomebody,
    JoinNode,
    KillAll,
    KillSomebody,
    LeaderOf,
    Outage,
    PauseSomebody,
    RollingRestart,
    SpoilLog,
    Way,
    WipeDisk,
)
from penstock.sim.cluster.plan import ClusterPlan

NODES = ("broker-1", "broker-2", "broker-3")


def quiet() -> ClusterPlan:
    """Three brokers, two of which must be in sync, and nothing that happens to them; another may join."""
    plans = (draw_plan(seed, node_count=3) for seed in range(1000))
    plan = next(
        plan for plan in plans if plan.cluster_configs == {"min.insync.replicas": "2"} and is_fit(plan)
    )
    nodes = tuple(replace(node, flags={**node.flags, **_SELDOM_CHECKPOINTED}) for node in plan.nodes)
    return replace(plan, nodes=nodes, faults=(), absent=None, workloads=plan.workloads[:3])


def is_fit(plan: ClusterPlan) -> bool:
    return plan.topics[0].replication_factor == 3 and len(plan.nodes) == 4 and len(plan.topics) == 1


QUIET = quiet()


def told(*kinds: FaultKind) -> list[str]:
    """The story of a run in which these faults happen, a second apart, without the times."""
    faults = tuple(Fault(at=1.0 + number, kind=kind) for number, kind in enumerate(kinds))
    cluster = Cluster(replace(QUIET, faults=faults))
    outcome = cluster.run()
    assert outcome.is_good, f"{outcome.rule}: {outcome.what}\n" + "\n".join(cluster.story)
    return [line.split(maxsplit=1)[1] for line in cluster.story]


def ended(story: list[str], how: str) -> list[str]:
    """Who met that end."""
    return [line.split()[0] for line in story if line.endswith(how)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "whom", [Controller(), LeaderOf(topic="orders", partition=0)], ids=["controller", "leader"]
)
def test_somebody_who_matters_is_found_and_killed(whom: Controller | LeaderOf) -> None:
    story = told(KillSomebody(whom=whom, outage=Outage.PROCESS, down_seconds=0.5))
    (victim,) = ended(story, "is killed")
    assert story.count(f"{victim} starts") == 2


@pytest.mark.slow
def test_controller_that_is_paused_or_isolated_is_replaced_and_the_next_is_found() -> None:
    story = told(
        PauseSomebody(whom=Controller(), seconds=4.0),
        PauseSomebody(whom=Controller(), seconds=1.0),
        IsolateSomebody(whom=Controller(), way=Way.BOTH, with_clients=True, seconds=2.0),
    )
    first, second = ended(story, "is paused")
    assert first != second
    assert story.index(f"{second} goes on") < story.index(f"{first} goes on")
    assert ended(story, "is isolated (both)") != []


@pytest.mark.slow
def test_all_lose_power_at_once_and_come_back() -> None:
    story = told(KillAll(outage=Outage.POWER, down_seconds=tuple((node, 0.3) for node in NODES)))
    assert sorted(ended(story, "loses power")) == sorted(NODES)


@pytest.mark.slow
def test_rolling_restart_waits_for_each() -> None:
    story = told(RollingRestart(nodes=("broker-3", "broker-1", "broker-2")))
    assert ended(story, "is told to stop") == ["broker-3", "broker-1", "broker-2"]
    second_stop = story.index("broker-1 is told to stop")
    assert sum(line.startswith("broker-3 serves") for line in story[:second_stop]) == 2


@pytest.mark.slow
def test_machine_joins_and_another_is_retired() -> None:
    story = told(JoinNode(node="broker-4"), Decommission(node="broker-1"))
    assert "broker-4 serves as node 4" in story
    assert story.index("broker-1 has stopped") > story.index("broker-4 serves as node 4")
    assert story.count("broker-1 starts") == 1


@pytest.mark.slow
def test_machine_that_loses_its_disk_comes_back_as_somebody_else() -> None:
    story = told(WipeDisk(node="broker-1", down_seconds=0.5))
    assert "broker-1 serves as node 1" in story
    assert "broker-1 gets an empty disk" in story
    assert "broker-1 serves as node 4" in story


@pytest.mark.slow
def test_healed_get_on_without_one_of_them_and_it_comes_back_in_the_end() -> None:
    cluster = Cluster(replace(QUIET, absent="broker-2"))
    outcome = cluster.run()
    assert outcome.is_good, outcome.what
    story = [line.split(maxsplit=1)[1] for line in cluster.story]
    assert story[-3:-1] == ["everything is healed but broker-2", "broker-2 starts"]
    assert story[-1].startswith("broker-2 serves")


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["orders", "__cluster_metadata"])
def test_log_in_which_a_bit_rots_is_made_good_by_the_others(topic: str) -> None:
    story = told(SpoilLog(node="broker-2", topic=topic, down_seconds=0.3))
    (rotten,) = [line for line in story if "rotten bit" in line]
    assert rotten.startswith("broker-2")
    assert f"/{topic}-" in rotten
