"""How large partitions are on the disks of their leaders, as far as brokers tell."""

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import WireClientError
from penstock.wire_client.topics import Leaders, by_leader, by_topic


def partition_bytes(cluster: Cluster, leaders: Leaders) -> dict[TopicPartition, int]:
    """Bytes of each partition; one is left out if its broker is silent, or may not tell."""
    found: dict[TopicPartition, int] = {}
    for node_id, led in by_leader(leaders, sorted(leaders)):
        try:
            found |= _ask(cluster.broker(node_id), by_topic(led))
        except WireClientError:
            continue
    return found


def _ask(broker: Connection, wanted: dict[str, list[int]]) -> dict[TopicPartition, int]:
    request = DescribeLogDirsRequest(
        topics=tuple(
            DescribableLogDirTopic(topic=topic, partitions=tuple(numbers))
            for topic, numbers in wanted.items()
        )
    )
    answer = broker.call(ApiKey.DESCRIBE_LOG_DIRS, request)
    return {
        TopicPartition(topic.name, partition.partition_index): partition.partition_size
        for directory in answer.results
        for topic in directory.topics
        for partition in topic.partitions
        if not partition.is_future_key
    }
