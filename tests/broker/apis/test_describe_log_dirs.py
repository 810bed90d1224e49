"""What a broker tells of its disk, as far as no client can bring it about alone."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from tests.metadata.cluster import ONE, make_broker

from penstock.broker.apis.describe_log_dirs import handle
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import RegisterBrokerRecord
from penstock.storage.filesystem import DiskUsage
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def at_once(job: Callable[[], DiskUsage]) -> DiskUsage:
    return job()


@pytest.mark.parametrize(
    ("registered", "is_cordoned"),
    [([make_broker(1, cordoned=True)], True), ([make_broker(1)], False), ([], False)],
)
def test_directory_of_a_broker_that_is_being_emptied_is_cordoned(
    registered: list[RegisterBrokerRecord], is_cordoned: bool
) -> None:
    broker = SimpleNamespace(
        image=ClusterImage().apply(registered),
        node_id=ONE,
        workers=SimpleNamespace(call=at_once),
        log_directory=SimpleNamespace(path="/data", usage=lambda: DiskUsage(total_bytes=2, free_bytes=1)),
        replicas=SimpleNamespace(all_by_topic=dict),
    )
    header = RequestHeader(ApiKey.DESCRIBE_LOG_DIRS, 5, 1, "test", 0)

    answer = asyncio.run(handle(cast("Broker", broker), DescribeLogDirsRequest(topics=None), header))
    (directory,) = answer.results
    assert (directory.is_cordoned, directory.usable_bytes) == (is_cordoned, 1)


def test_topic_that_is_named_twice_is_described_with_the_partitions_of_both() -> None:
    partitions = [
        SimpleNamespace(index=index, log=SimpleNamespace(size_bytes=10 * index)) for index in range(3)
    ]
    asked = DescribeLogDirsRequest(
        topics=(
            DescribableLogDirTopic(topic="orders", partitions=(0,)),
            DescribableLogDirTopic(topic="orders", partitions=(2,)),
        )
    )

    (topic,) = described(asked, {"orders": partitions})
    assert [(each.partition_index, each.partition_size) for each in topic.partitions] == [(0, 0), (2, 20)]


def described(
    request: DescribeLogDirsRequest, held: dict[str, list[SimpleNamespace]]
) -> tuple[DescribeLogDirsTopic, ...]:
    broker = SimpleNamespace(
        image=ClusterImage(),
        node_id=ONE,
        workers=SimpleNamespace(call=at_once),
        log_directory=SimpleNamespace(path="/data", usage=lambda: DiskUsage(total_bytes=2, free_bytes=1)),
        replicas=SimpleNamespace(all_by_topic=lambda: held),
    )
    header = RequestHeader(ApiKey.DESCRIBE_LOG_DIRS, 5, 1, "test", 0)
    (directory,) = asyncio.run(handle(cast("Broker", broker), request, header)).results
    return directory.topics
