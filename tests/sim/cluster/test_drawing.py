"""Plans: the same for the same seed, within what is promised, different from seed to seed."""

from penstock.sim.cluster.drawing import draw_plan
from penstock.sim.cluster.plan import FailFlush, Kill, KillAtOperation, KillClient
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
        failures = [fault.kind for fault in draw_plan(seed).faults if isinstance(fault.kind, FailFlush)]
        assert len(failures) <= 1


def test_seeds_differ_in_what_they_do() -> None:
    plans = [draw_plan(seed) for seed in SEEDS]
    kinds = {type(fault.kind) for plan in plans for fault in plan.faults}
    assert {Kill, KillAtOperation, KillClient, FailFlush} <= kinds
    assert len({type(each.settings) for plan in plans for each in plan.workloads}) == 6
    assert len({plan.environment for plan in plans}) > 20


def test_larger_clusters_replicate_their_topics() -> None:
    plan = draw_plan(1, node_count=3)
    assert [node.name for node in plan.nodes] == ["broker-1", "broker-2", "broker-3"]
    assert {topic.replication_factor for topic in plan.topics} == {3}


def test_shortened_plan_keeps_what_is_numbered() -> None:
    plan = draw_plan(2)
    shorter = plan.shortened((0, 2), (1,))
    assert shorter.faults == (plan.faults[0], plan.faults[2])
    assert shorter.workloads == (plan.workloads[1],)
    assert plan.shortened(None, None).faults == plan.faults
