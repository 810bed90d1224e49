"""DescribeLogDirs (key 35): how much space partitions take, and how much is left.

Versions 1 to 5.

Behaviour
    - No topics at all means every partition. Partitions that are not here are left out.
    - One data directory per broker; it is cordoned while the broker is being emptied.

Version notes
    2 flexible; 3 top-level error; 4 total and usable bytes (KIP-827); 5 whether the directory is cordoned.
"""

from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DescribeLogDirsRequest, header: RequestHeader
) -> DescribeLogDirsResponse:
    """Describe the one data directory."""
    usage = await broker.workers.call(broker.log_directory.usage)
    result = DescribeLogDirsResult(
        log_dir=broker.log_directory.path,
        topics=tuple(
            DescribeLogDirsTopic(name=name, partitions=tuple(map(_describe, partitions)))
            for name, partitions in _wanted(broker, request).items()
        ),
        total_bytes=usage.total_bytes,
        usable_bytes=usage.free_bytes,
        is_cordoned=_is_cordoned(broker),
    )
    return DescribeLogDirsResponse(results=(result,))


def _is_cordoned(broker: "Broker") -> bool:
    registered = broker.image.brokers.get(broker.node_id)
    return registered is not None and registered.is_cordoned


def _wanted(broker: "Broker", request: DescribeLogDirsRequest) -> dict[str, list[Partition]]:
    if request.topics is None:
        return broker.replicas.all_by_topic()
    wanted: dict[str, set[int]] = {}
    for topic in request.topics:  # which may name a topic several times
        wanted.setdefault(topic.topic, set()).update(topic.partitions)
    return {
        name: [partition for partition in partitions if partition.index in wanted[name]]
        for name, partitions in broker.replicas.all_by_topic().items()
        if name in wanted
    }


def _describe(partition: Partition) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=partition.index, partition_size=partition.log.size_bytes, offset_lag=0
    )
