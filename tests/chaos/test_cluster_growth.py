"""A cluster grows from one broker to three and five and shrinks to three again, under load.

Everything is done by the commands that people use; clients notice nothing but a short wait.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from tests.broker_process import penstock_command, wait_until
from tests.chaos.orders_cluster import PARTITIONS, TOPIC, check_content
from tests.chaos.timed_writer import TimedWriter
from tests.chaos.vitals import TRACEBACK, long_run
from tests.chaos.writers import wait_for_progress
from tests.cluster_processes import ProcessCluster
from tests.interop.confluent import consumer, read

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(900), long_run]

GROUP = "readers"
INTERNAL = ("__consumer_offsets", "__transaction_state")
FEW_SHARDS = {"offsets.topic.num.partitions": 5, "transaction.state.log.num.partitions": 5}
COMMAND_SECONDS_MAX = 120


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ProcessCluster]:
    """One broker, to begin with."""
    made = ProcessCluster(tmp_path, node_count=1, settings={"default.replication.factor": 1, **FEW_SHARDS})
    try:
        made.start()
        yield made
    finally:
        made.close()


def test_cluster_grows_and_shrinks_under_load_with_everything_intact(cluster: ProcessCluster) -> None:
    cluster.create_topic(TOPIC, partitions=PARTITIONS, replicas=1)
    writer = TimedWriter(cluster.bootstrap, TOPIC, partitions=PARTITIONS)
    writer.start()
    wait_for_progress([writer], 50)
    commit_positions(cluster, 10)

    grow(cluster, to=3)
    wait_until(lambda: replicas_of(cluster, INTERNAL[0]) == {3}, what="offsets on three brokers", seconds=60)
    reassign(cluster, {number: [1, 2, 3] for number in range(PARTITIONS)})
    assert replicas_of(cluster, TOPIC) == {3}
    wait_for_progress([writer], 50)
    assert committed_positions(cluster) == [10] * PARTITIONS

    grow(cluster, to=5)
    spread_evenly(cluster)
    wait_for_progress([writer], 50)
    commit_positions(cluster, 20)

    for leaving in (1, 4):
        penstock(cluster, "broker", "decommission", str(leaving))
        wait_for_progress([writer], 50)
    wait_until(lambda: live_brokers(cluster) == [2, 3, 5], what="three brokers that are left", seconds=60)
    cluster.wait_in_sync()
    check_holders(cluster, {2, 3, 5})
    assert committed_positions(cluster) == [20] * PARTITIONS

    writer.finish()
    check_content(cluster, writer)
    for server in cluster.servers:
        assert TRACEBACK not in server.stderr_text()


def grow(cluster: ProcessCluster, *, to: int) -> None:
    """Add brokers until there are so many."""
    while len(cluster.servers) < to:
        cluster.add_node()
    cluster.wait_members(to)


def reassign(cluster: ProcessCluster, replicas: dict[int, list[int]]) -> None:
    """Give the partitions of the topic other replicas, and wait until they have them."""
    plan = cluster.directory / "plan.json"
    wanted = [{"topic": TOPIC, "partition": number, "replicas": ids} for number, ids in replicas.items()]
    plan.write_text(json.dumps({"version": 1, "partitions": wanted}))
    penstock(cluster, "reassign", "run", str(plan))
    cluster.wait_in_sync([TOPIC])


def spread_evenly(cluster: ProcessCluster) -> None:
    """Let the new brokers have their share."""
    plan = cluster.directory / "even.json"
    penstock(cluster, "reassign", "plan", "-o", str(plan))
    assert json.loads(plan.read_text())["partitions"], "nothing moves to the new brokers"
    penstock(cluster, "reassign", "run", str(plan))
    cluster.wait_in_sync()
    holders = {node for _, found in cluster.partitions() for node in found.replicas}
    assert holders == {1, 2, 3, 4, 5}


def penstock(cluster: ProcessCluster, *words: str) -> str:
    """Run a command as a person does; what it printed."""
    done = subprocess.run(
        [*penstock_command(), *words, "--bootstrap-server", cluster.bootstrap],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, f"penstock {' '.join(words)}: {done.stdout} {done.stderr}"
    return done.stdout


def replicas_of(cluster: ProcessCluster, topic: str) -> set[int]:
    """How many replicas in sync the partitions of a topic have."""
    return {len(found.isrs) for (name, _), found in cluster.partitions() if name == topic}


def live_brokers(cluster: ProcessCluster) -> list[int]:
    """As clients are told."""
    return sorted(cluster.metadata().brokers)


def check_holders(cluster: ProcessCluster, allowed: set[int]) -> None:
    """Nothing is left on brokers that are gone, and everything is as replicated as it was."""
    for (topic, number), found in cluster.partitions():
        assert set(found.replicas) <= allowed, f"{topic}-{number} is on {found.replicas}"
        assert set(found.isrs) == set(found.replicas)
        assert len(found.replicas) == 3, f"{topic}-{number} has {len(found.replicas)} replicas"


def positions(cluster: ProcessCluster) -> list[TopicPartition]:
    return [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]


def commit_positions(cluster: ProcessCluster, offset: int) -> None:
    """As a group that has read so far."""
    with consumer(cluster.bootstrap, group_id=GROUP) as client:
        client.assign([TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
        read(client, 1)
        client.commit(
            offsets=[TopicPartition(TOPIC, number, offset) for number in range(PARTITIONS)],
            asynchronous=False,
        )


def committed_positions(cluster: ProcessCluster) -> list[int]:
    """What the group finds when it comes back."""
    with consumer(cluster.bootstrap, group_id=GROUP) as client:
        return [found.offset for found in client.committed(positions(cluster), timeout=30)]
