"""A cluster with a topic that wants two replicas in sync, a writer, and what must be true in the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.broker_process import Server
from tests.chaos.replica_files import check_replicas_equal
from tests.chaos.timed_writer import TimedWriter
from tests.chaos.vitals import TRACEBACK
from tests.chaos.writers import number_of, wait_for_progress
from tests.cluster_processes import ProcessCluster
from tests.interop.confluent import read_all

TOPIC, PARTITIONS = "orders", 3


@contextmanager
def orders_cluster(
    directory: Path, *, prepare: Callable[[Server, int], None] | None = None
) -> Iterator[ProcessCluster]:
    """Three brokers, gone afterwards."""
    cluster = ProcessCluster(directory, prepare=prepare)
    try:
        cluster.start()
        cluster.create_topic(TOPIC, partitions=PARTITIONS, config={"min.insync.replicas": "2"})
        yield cluster
    finally:
        cluster.close()


def check_end(cluster: ProcessCluster, writer: TimedWriter) -> None:
    """Everything that was sent stands once, in order, on every replica."""
    wait_for_progress([writer], 1)
    writer.finish()
    check_content(cluster, writer)
    cluster.stop()
    check_replicas_equal([server.data_directory for server in cluster.servers], TOPIC, PARTITIONS)
    for server in cluster.servers:
        assert TRACEBACK not in server.stderr_text()


def check_content(cluster: ProcessCluster, writer: TimedWriter) -> None:
    """Every record that was sent stands once and in order, at the offset that was acknowledged."""
    messages = read_all(cluster.bootstrap, writer.topic, partitions=writer.partitions)
    for partition in range(writer.partitions):
        found = {
            message.offset(): number_of(message.value())
            for message in messages
            if message.partition() == partition
        }
        writer.check(partition, list(found.values()))
        lost = [
            (offset, number)
            for where, offset, number in writer.acknowledged
            if where == partition and found.get(offset) != number
        ]
        assert not lost, f"{writer.topic}-{partition} lost {lost[:5]}"
