"""Brokers of a cluster are killed, stopped and frozen under load: nothing acknowledged is lost or doubled.

``PENSTOCK_KILL_ROUNDS`` asks for the long run. How long clients were not served is reported, not asserted.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.chaos.orders_cluster import PARTITIONS, TOPIC, check_end, orders_cluster
from tests.chaos.reports import report_gaps
from tests.chaos.timed_writer import TimedWriter
from tests.chaos.vitals import IS_LONG_RUN, KILL_ROUNDS, long_run
from tests.chaos.writers import wait_for_progress
from tests.cluster_processes import ProcessCluster

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(1800 if IS_LONG_RUN else 240)]

ROUNDS = KILL_ROUNDS if IS_LONG_RUN else 3
FREEZE_SECONDS = 4.0
"""Longer than a broker's session: the others elect somebody else."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ProcessCluster]:
    """Three brokers, with a topic that wants two replicas in sync."""
    with orders_cluster(tmp_path) as made:
        yield made


@pytest.fixture
def writer(cluster: ProcessCluster) -> TimedWriter:
    """That writes with all acknowledgements, as an idempotent producer does."""
    return TimedWriter(cluster.bootstrap, TOPIC, partitions=PARTITIONS)


def test_killed_leader_costs_no_acknowledged_record(cluster: ProcessCluster, writer: TimedWriter) -> None:
    gaps = strike_again_and_again(cluster, writer, lambda number: cluster.leader_of(TOPIC, number))
    report_gaps("gap in acknowledgements of a partition whose leader is killed", gaps)
    check_end(cluster, writer)


@long_run
def test_killed_controller_costs_no_acknowledged_record(cluster: ProcessCluster, writer: TimedWriter) -> None:
    gaps = strike_again_and_again(cluster, writer, lambda number: cluster.controller())
    report_gaps("gap in acknowledgements of a partition when the controller is killed", gaps)
    check_end(cluster, writer)


def test_rolling_restart_costs_no_record(cluster: ProcessCluster, writer: TimedWriter) -> None:
    writer.start()
    gaps = []
    for server in cluster.servers:
        wait_for_progress([writer], 50)
        since = time.monotonic()
        assert server.stop() == 0
        server.restart()
        cluster.wait_in_sync()
        gaps.append(max(writer.gap(number, since=since) for number in range(PARTITIONS)))
    report_gaps("gap in acknowledgements when a broker is stopped and started", gaps)
    check_end(cluster, writer)


@long_run
def test_frozen_leader_wakes_up_as_a_follower(cluster: ProcessCluster, writer: TimedWriter) -> None:
    """It is taken for dead, replaced, and goes on later as if it had missed nothing."""
    writer.start()
    for number in range(ROUNDS):
        wait_for_progress([writer], 50)
        partition = number % PARTITIONS
        leader = cluster.leader_of(TOPIC, partition)
        with leader.paused():
            since = time.monotonic()
            time.sleep(FREEZE_SECONDS)  # the fault itself
            writer.wait_served(partition, since=since + FREEZE_SECONDS / 2)
        cluster.wait_in_sync()
    check_end(cluster, writer)


def test_all_killed_at_once_come_back_with_everything(cluster: ProcessCluster, writer: TimedWriter) -> None:
    writer.start()
    for _ in range(ROUNDS):
        wait_for_progress([writer], 50)
        for server in cluster.servers:
            server.kill()
        for server in cluster.servers:
            server.launch()
        for server in cluster.servers:
            server.wait_ready()
        cluster.wait_in_sync()
    check_end(cluster, writer)


def strike_again_and_again(
    cluster: ProcessCluster, writer: TimedWriter, choose: Callable[[int], Server]
) -> list[float]:
    """Kill, wait until the partition is served again, bring back; how long each partition was not."""
    writer.start()
    gaps = []
    for number in range(ROUNDS):
        wait_for_progress([writer], 50)
        partition = number % PARTITIONS
        victim = choose(partition)
        since = time.monotonic()
        victim.kill()
        writer.wait_served(partition, since=since + 0.2)
        gaps.append(writer.gap(partition, since=since))
        victim.restart()
        cluster.wait_in_sync()
    return gaps
