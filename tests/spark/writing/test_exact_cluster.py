"""Writing exactly once to three brokers of which one dies after another, leaders and coordinators too."""

from collections.abc import Iterator

import pytest
from tests.spark.writing.one_query import Run
from tests.wire_client.reading import read_values

from penstock.spark.options.sink_options import stream_sink_options
from penstock.spark.writing.sinks import Sink
from penstock.testing import Cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def brokers() -> Iterator[Cluster]:
    with Cluster(3) as three:
        yield three


def new_run(brokers: Cluster, topic: str) -> Run:
    given = {"kafka.bootstrap.servers": brokers.bootstrap_servers, "topic": topic}
    return Run(options=stream_sink_options(given), sink=Sink(name=f"of-{topic}"), name="0", task_count=3)


def committed(brokers: Cluster, topic: str) -> list[bytes]:
    read = read_values(brokers.bootstrap_servers, topic)
    return sorted(value for part in read for value in part if value is not None)


def test_brokers_that_die_while_a_batch_is_committed_change_nothing(brokers: Cluster) -> None:
    topic = brokers.create_topic(partitions=3, replication_factor=3, min_insync_replicas=2)
    run = new_run(brokers, topic)
    for batch in range(3):
        messages = run.write_tasks(batch)
        brokers.kill(batch + 1)
        run.commit(messages)
        brokers.restart(batch + 1)
        brokers.wait_in_sync(topic)

    assert committed(brokers, topic) == run.expected(0, 1, 2)


def test_brokers_that_die_while_a_batch_is_written_change_nothing(brokers: Cluster) -> None:
    topic = brokers.create_topic(partitions=3, replication_factor=3, min_insync_replicas=2)
    run = new_run(brokers, topic)
    for batch in range(3):
        first = run.write_task(batch, 0)
        brokers.kill(batch + 1)
        others = [run.write_task(batch, task) for task in (1, 2)]
        brokers.restart(batch + 1)
        brokers.wait_in_sync(topic)
        run.commit([first, *others])

    assert committed(brokers, topic) == run.expected(0, 1, 2)


def test_a_run_that_ends_with_a_broker_is_repeated_by_the_next(brokers: Cluster) -> None:
    topic = brokers.create_topic(partitions=3, replication_factor=3, min_insync_replicas=2)
    run = new_run(brokers, topic)
    run.write(0)
    run.write_tasks(1)
    leader = brokers.leader(topic, 0).node_id
    brokers.kill(leader)

    run.restarted("1").write(1)
    brokers.restart(leader)
    brokers.wait_in_sync(topic)
    run.restarted("1").write(2)
    assert committed(brokers, topic) == run.expected(0, 1, 2)
