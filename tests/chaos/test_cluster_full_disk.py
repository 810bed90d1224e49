"""One broker of a cluster has no room left: the others go on, and it comes back when there is some."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic
from tests.broker_process import Server, wait_until
from tests.chaos.orders_cluster import TOPIC, check_content
from tests.chaos.small_disk import fill_completely
from tests.chaos.timed_writer import TimedWriter
from tests.chaos.vitals import TRACEBACK
from tests.chaos.writers import wait_for_progress
from tests.cluster_processes import ADMIN_SECONDS, ProcessCluster

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(240)]

SETTINGS = {"disk.reserve.bytes": 0, "replica.lag.time.max.ms": 2000}
FULL = 3


@pytest.fixture
def cluster(tmp_path: Path, small_disk: Path) -> Iterator[ProcessCluster]:
    """Three brokers, one of them on a small disk, and a partition that it follows."""

    def settle(server: Server, number: int) -> None:
        if number == FULL:
            server.data_directory = small_disk / "data"

    made = ProcessCluster(tmp_path, settings=SETTINGS, prepare=settle)
    try:
        made.start()
        wanted = NewTopic(TOPIC, 1, replica_assignment=[[1, 2, FULL]], config={"min.insync.replicas": "2"})
        made.admin.create_topics([wanted])[TOPIC].result(ADMIN_SECONDS)
        made.wait_in_sync([TOPIC])
        yield made
    finally:
        made.close()


def test_follower_without_room_falls_behind_and_catches_up(cluster: ProcessCluster, small_disk: Path) -> None:
    writer = TimedWriter(cluster.bootstrap, TOPIC, partitions=1)
    writer.start()
    wait_for_progress([writer], 50)
    ballast: list[Path] = []

    def is_left_behind() -> bool:
        ballast.append(small_disk / f"ballast-{len(ballast)}")
        fill_completely(ballast[-1])  # again: the broker gives up a reserve of its own first
        return bool(cluster.partition(TOPIC, 0).isrs == [1, 2])

    wait_until(is_left_behind, what="two in sync", seconds=60, every_seconds=0.2)
    wait_for_progress([writer], 200)

    for path in ballast:
        path.unlink()

    cluster.wait_in_sync([TOPIC])
    wait_for_progress([writer], 50)
    writer.finish()
    check_content(cluster, writer)
    for server in cluster.servers:
        assert server.is_running
        assert TRACEBACK not in server.stderr_text()
