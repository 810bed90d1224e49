"""How much of its disks a broker uses, and for what: each broker knows only its own."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResult
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.errors import WireClientError, check


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryDescription:
    """One data directory; what the whole volume has is None where the broker is too old to say."""

    path: str
    bytes: int
    volume_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerDisks:
    """The directories of one broker, and the sizes of its replicas."""

    directories: tuple[DirectoryDescription, ...]
    sizes: Mapping[TopicPartition, int]

    @property
    def bytes(self) -> int:
        """What all replicas take."""
        return sum(each.bytes for each in self.directories)

    @property
    def is_cordoned(self) -> bool:
        """Whether nothing new goes there, since the broker is being emptied."""
        return bool(self.directories) and all(each.is_cordoned for each in self.directories)


def describe_disks(cluster: Cluster, brokers: Iterable[int]) -> dict[int, BrokerDisks | str]:
    """What each broker tells, or a sentence why it does not: one that is silent does not keep the others."""
    found: dict[int, BrokerDisks | str] = {}
    for node_id in brokers:
        try:
            found[node_id] = _ask(cluster, node_id)
        except WireClientError as error:
            found[node_id] = f"The disks of broker {node_id} are not known: {error}"
    return found


def _ask(cluster: Cluster, node_id: int) -> BrokerDisks:
    answer = cluster.broker(node_id).call(ApiKey.DESCRIBE_LOG_DIRS, DescribeLogDirsRequest(topics=None))
    check(answer.error_code, doing=f"describe the disks of broker {node_id}")
    sizes: dict[TopicPartition, int] = {}
    for directory in answer.results:
        check(directory.error_code, doing=f"describe {directory.log_dir} of broker {node_id}")
        sizes |= _sizes(directory)
    return BrokerDisks(directories=tuple(map(_directory, answer.results)), sizes=sizes)


def _sizes(directory: DescribeLogDirsResult) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, partition.partition_index): partition.partition_size
        for topic in directory.topics
        for partition in topic.partitions
        if not partition.is_future_key
    }


def _directory(directory: DescribeLogDirsResult) -> DirectoryDescription:
    return DirectoryDescription(
        path=directory.log_dir,
        bytes=sum(partition.partition_size for topic in directory.topics for partition in topic.partitions),
        volume_bytes=directory.total_bytes if directory.total_bytes >= 0 else None,
        usable_bytes=directory.usable_bytes if directory.usable_bytes >= 0 else None,
        is_cordoned=directory.is_cordoned,
    )
