"""Plans: the same for the same seed, within what is promised, different from seed to seed."""

from typing import get_args

from penstock.sim.cluster.drawing import draw_plan
from penstock.sim.cluster.faults import (
    Decommission,
    FailFlush,
    FaultKind,
    JoinNode,
    Kill,
    KillAtOperation,
    KillClient,
    SpoilLog,
    Upheaval,
    WipeDisk,
)
from penstock.sim.cluster.plan import ClusterPlan
from penstock.sim.workloads.administrator import MIN_IN_SYNC
from penstock.sim.workloads.kinds import is_source
from penstock.sim.workloads.reader import ReaderSettings

SEEDS = range(150)


def test_plan_follows_from_the_seed() -> None:
    assert draw_plan(5) == draw_plan(5)
    assert draw_plan(5) != draw_plan(6)


def test_plans_always_have_somebody_who_writes_and_somebody_who_reads() -> None:
    for seed in SEEDS:
        settings = [each.settings for each in draw_plan(seed).workloads]
        assert any(is_source(each) for each in settings)
        assert any(isinstance(each, ReaderSettings) for each in settings)


def test_faults_stay_in_their_phase_and_in_order() -> None:
    for seed in SEEDS:
        plan = draw_plan(seed)
        moments = [fault.at for fault in plan.faults]
        assert moments == sorted(moments)
        assert all(0 < moment < plan.fault_seconds for moment in moments)


def test_no_disk_fails_to_flush_more_often_than_a_broker_stands() -> None:
    for seed in SEEDS:
        plan = draw_plan(seed, node_count=1)
        failures = [fault.kind for fault in plan.faults if isinstance(fault.kind, FailFlush)]
        assert len(failures) <= 1


def test_seeds_differ_in_what_they_do() -> None:
    plans = [draw_plan(seed) for seed in SEEDS]
    kinds = {type(fault.kind) for plan in plans for fault in plan.faults}
    assert {Kill, KillAtOperation, KillClient, FailFlush} <= kinds
    assert len({type(each.settings) for plan in plans for each in plan.workloads}) == 6
    assert len({plan.environment for plan in plans}) > 20


CLUSTERS = [draw_plan(seed, node_count=3) for seed in range(300)]


def kinds_of(plan: ClusterPlan, *kinds: type) -> list[FaultKind]:
    return [fault.kind for fault in plan.faults if isinstance(fault.kind, kinds)]


def test_clusters_have_one_founder_and_everybody_else_knows_whom_to_ask() -> None:
    for plan in CLUSTERS:
        founder, *others = plan.nodes
        assert founder.is_founder
        assert founder.name == "broker-1"
        assert not any(node.is_founder for node in others)
        assert all("broker-1:9092" in node.others for node in others)
        assert all(f"{node.name}:9092" not in node.others for node in plan.nodes)


def test_clusters_differ_in_how_they_replicate() -> None:
    found = {(plan.topics[0].replication_factor, plan.topics[0].configs[MIN_IN_SYNC]) for plan in CLUSTERS}
    assert found == {(1, "1"), (2, "1"), (2, "2"), (3, "1"), (3, "2")}


def test_clusters_suffer_everything_that_one_broker_does_and_more() -> None:
    kinds = {type(fault.kind) for plan in CLUSTERS for fault in plan.faults}
    assert kinds == set(get_args(FaultKind)) | set(get_args(Upheaval)) - {Upheaval}


def test_one_broker_is_spared_what_only_clusters_know() -> None:
    for seed in SEEDS:
        assert not kinds_of(draw_plan(seed, node_count=1), *get_args(Upheaval))


def test_disk_is_lost_or_rots_only_where_two_must_be_in_sync_and_only_once() -> None:
    losing = [plan for plan in CLUSTERS if kinds_of(plan, WipeDisk, SpoilLog)]
    assert losing
    for plan in losing:
        assert len(kinds_of(plan, WipeDisk, SpoilLog)) == 1
        assert not kinds_of(plan, JoinNode, Decommission)
        assert {topic.replication_factor for topic in plan.topics} == {3}
        assert {topic.configs[MIN_IN_SYNC] for topic in plan.topics} == {"2"}
        assert plan.cluster_configs == {MIN_IN_SYNC: "2"}
        administrators = [each.settings for each in plan.workloads if each.name == "administrator"]
        assert not any(getattr(each, "minimums", ()) for each in administrators)
        assert {getattr(each, "shared_share", 1.0) for each in administrators} <= {1.0}


def test_broker_goes_only_where_enough_are_left() -> None:
    going = [plan for plan in CLUSTERS if kinds_of(plan, Decommission)]
    assert going
    for plan in going:
        assert len(kinds_of(plan, Decommission)) == 1
        left = len(plan.nodes) - 1
        assert left >= max(3, *(topic.replication_factor for topic in plan.topics))


def test_healed_do_without_one_only_where_nothing_needs_it() -> None:
    absent = [plan for plan in CLUSTERS if plan.absent is not None]
    assert absent
    for plan in absent:
        assert plan.absent in [node.name for node in plan.nodes]
        assert {topic.replication_factor for topic in plan.topics} == {3}
        assert plan.cluster_configs == {MIN_IN_SYNC: "2"}
        administrators = [each.settings for each in plan.workloads if each.name == "administrator"]
        assert not any(getattr(each, "minimums", ()) for each in administrators)
        assert not kinds_of(plan, WipeDisk, JoinNode, Decommission)


def test_no_disk_of_a_cluster_fails_to_flush_twice() -> None:
    for plan in CLUSTERS:
        failing = [kind.node for kind in kinds_of(plan, FailFlush) if isinstance(kind, FailFlush)]
        assert len(failing) == len(set(failing))


def test_shortened_plan_keeps_what_is_numbered() -> None:
    plan = draw_plan(2)
    shorter = plan.shortened((0, 2), (1,))
    assert shorter.faults == (plan.faults[0], plan.faults[2])
    assert shorter.workloads == (plan.workloads[1],)
    assert plan.shortened(None, None).faults == plan.faults
