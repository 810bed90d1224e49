"""Whole brokers in a world of faults: the first seeds are good, and planted bugs are not."""

from dataclasses import replace

import pytest

from penstock.broker.transactional_appends import TransactionalAppends
from penstock.groups import shard
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.sim.checkers import CHECKS
from penstock.sim.checkers.evidence import Evidence
from penstock.sim.cluster.cluster import PROGRESS, UNEXPECTED, Cluster
from penstock.sim.cluster.drawing import draw_plan
from penstock.sim.cluster.faults import Fault, Kill, KillClient, Outage, Pause, Restart
from penstock.sim.cluster.plan import ClusterPlan
from penstock.sim.cluster.reporting import Choice, run_seed
from penstock.sim.workloads.group_member import MemberSettings
from penstock.sim.workloads.producers import ProducerSettings
from penstock.sim.workloads.transactional_producer import TransactionalSettings

QUIET = replace(draw_plan(3, node_count=1), faults=())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_seed_keeps_every_promise(seed: int) -> None:
    outcome = run_seed(seed, Choice())
    assert outcome.is_good, f"{outcome.rule}: {outcome.what}\n{Choice().command(seed)}"
    assert outcome.acknowledged > 0


@pytest.mark.slow
def test_cluster_without_faults_tells_a_short_story() -> None:
    cluster = Cluster(QUIET)
    outcome = cluster.run()
    assert outcome.is_good
    assert outcome.faults == 0
    assert [line.split(maxsplit=1)[1] for line in cluster.story] == [
        "broker-1 starts",
        "broker-1 serves as node 1",
        "everything is healed",
    ]


@pytest.mark.slow
def test_faults_happen_in_their_time_and_are_healed() -> None:
    client = QUIET.workloads[0].name
    faults = (
        Fault(at=1.0, kind=Kill(node="broker-1", outage=Outage.POWER, down_seconds=0.5)),
        Fault(at=3.0, kind=Restart(node="broker-1")),
        Fault(at=5.5, kind=Pause(host="broker-1", seconds=60.0)),
        Fault(at=6.0, kind=KillClient(host=client, down_seconds=60.0)),
    )
    cluster = Cluster(replace(QUIET, faults=faults))
    outcome = cluster.run()
    assert outcome.is_good, outcome.what
    story = [line.split(maxsplit=1)[1] for line in cluster.story]
    assert [line for line in story if not line.startswith("FAULT")] == [
        "broker-1 starts",
        "broker-1 serves as node 1",
        "broker-1 loses power",
        "broker-1 starts",
        "broker-1 serves as node 1",
        "broker-1 is told to stop",
        "broker-1 has stopped",
        "broker-1 starts",
        "broker-1 serves as node 1",
        "broker-1 is paused",
        f"{client} is killed",
        "broker-1 goes on",
        "everything is healed",
    ]


@pytest.mark.slow
def test_cluster_that_never_comes_back_is_found_by_its_silence() -> None:
    cluster = Cluster(QUIET)
    for node in cluster._nodes.values():
        cluster.world.at(5.0, cluster._environment, _switch_off, node)
    outcome = cluster.run()
    assert outcome.rule == PROGRESS


def _switch_off(node: object) -> None:
    node.is_wanted = False  # type: ignore[attr-defined] # it is a node
    node.kill()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_error_that_a_broker_only_logs_ends_the_run() -> None:
    cluster = Cluster(QUIET)

    def break_requests() -> None:
        (node,) = cluster._nodes.values()
        assert node.broker is not None
        node.broker.replicas = None  # type: ignore[assignment] # a bug of the worst kind

    cluster.world.at(3.0, cluster._environment, break_requests)
    outcome = cluster.run()
    assert outcome.rule == UNEXPECTED


def test_checker_that_fails_is_a_failure_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(evidence: Evidence) -> list[str]:
        raise KeyError("o-7")

    monkeypatch.setitem(CHECKS, "something holds", fail)
    outcome = Cluster(QUIET).run()
    assert (outcome.seed, outcome.rule, outcome.what) == (QUIET.seed, UNEXPECTED, "KeyError('o-7')")


def refuse(*arguments: object, **named: object) -> None:
    raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)


def plan_of(settings: type) -> ClusterPlan:
    """A plan of one broker without faults, with nobody but such clients and somebody who writes for them."""
    plans = (replace(draw_plan(seed, node_count=1), faults=()) for seed in range(50))
    plan = next(each for each in plans if any(isinstance(one.settings, settings) for one in each.workloads))
    wanted = (settings, ProducerSettings, TransactionalSettings)
    return replace(plan, workloads=tuple(one for one in plan.workloads if isinstance(one.settings, wanted)))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [MemberSettings, TransactionalSettings])
def test_client_that_is_refused_for_ever_makes_no_progress(
    settings: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(settings)
    assert Cluster(plan).run().is_good
    monkeypatch.setattr(shard, "commit_offsets", refuse)
    monkeypatch.setattr(TransactionalAppends, "submit", refuse)
    outcome = Cluster(plan).run()
    assert outcome.rule == PROGRESS, outcome.what
