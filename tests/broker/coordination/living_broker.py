"""A whole broker inside the test's own event loop, on a simulated disk, asked without a socket in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, TypeVar

from penstock.broker.broker import Broker
from penstock.broker.clock import SystemClock
from penstock.broker.dispatch import awaited_handler
from penstock.broker.entropy import SystemEntropy
from penstock.config.sources import load_broker_config
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.find_coordinator import GROUP, FindCoordinatorRequest
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from penstock.wire.schema import Struct

B = TypeVar("B", bound=Broker)

KEYS = {spec.request: spec.key for spec in APIS.values()}


def new_disk() -> MemoryFileSystem:
    return MemoryFileSystem(Random(1))


@asynccontextmanager
async def living_broker(disk: MemoryFileSystem, **settings: str) -> AsyncIterator[Broker]:
    """Started on that disk; stopped in good order unless the disk was crashed meanwhile."""
    async with living(Broker, disk, **settings) as broker:
        yield broker


@asynccontextmanager
async def living(kind: type[B], disk: MemoryFileSystem, **settings: str) -> AsyncIterator[B]:
    """A broker of some class."""
    flags = {"listeners": "PLAINTEXT://127.0.0.1:0", "offsets.topic.num.partitions": "2", **settings}
    failures: list[Exception] = []
    broker = kind(
        load_broker_config(flags=flags),
        data_directory="/data",
        loop=asyncio.get_running_loop(),
        filesystem=disk,
        clock=SystemClock(),
        entropy=SystemEntropy(),
        on_fatal=failures.append,
    )
    incarnation = disk.machine.incarnation
    await broker.start()
    try:
        yield broker
    finally:
        if disk.machine.incarnation == incarnation:
            await broker.stop()
        else:
            await _abandon(broker)
        assert not failures


async def _abandon(broker: Broker) -> None:
    """The process is dead to its disk: end what is left of it without a word."""
    await broker.server.stop(0.0)
    await broker.tasks.stop()
    broker.workers.stop()


def header(request: type[Struct], version: int | None = None) -> RequestHeader:
    spec = APIS[KEYS[request]]
    return RequestHeader(
        spec.key, spec.max_version if version is None else version, 1, "client", 0, client_host="/127.0.0.1"
    )


async def ask(broker: Broker, request: Struct, version: int | None = None) -> Any:
    """What the API's handler answers."""
    called = header(type(request), version)
    async with asyncio.timeout(10):
        return await awaited_handler(ApiKey(called.api_key))(broker, request, called)


async def make_topic(broker: Broker, name: str = "orders") -> None:
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
    await ask(broker, CreateTopicsRequest(topics=(topic,)))


async def find_group(broker: Broker, *groups: str) -> Any:
    return await ask(broker, FindCoordinatorRequest(key_type=GROUP, coordinator_keys=groups))


def commit_of(group: str, offset: int, topic: str = "orders") -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    return OffsetCommitRequest(
        group_id=group, topics=(OffsetCommitRequestTopic(name=topic, partitions=(partition,)),)
    )


async def commit(broker: Broker, group: str, offset: int) -> int:
    """Commit from outside the group; the error code."""
    response: OffsetCommitResponse = await ask(broker, commit_of(group, offset), 8)
    return response.topics[0].partitions[0].error_code


def fetch_of(group: str, topic: str = "orders") -> OffsetFetchRequest:
    topics = (OffsetFetchRequestTopics(name=topic, partition_indexes=(0,)),)
    return OffsetFetchRequest(groups=(OffsetFetchRequestGroup(group_id=group, topics=topics),))


async def committed(broker: Broker, group: str) -> int:
    """The group's offset, -1 without one, or minus the error code below that."""
    response: OffsetFetchResponse = await ask(broker, fetch_of(group), 8)
    (found,) = response.groups
    return -1000 - found.error_code if found.error_code else found.topics[0].partitions[0].committed_offset


async def committed_once_loaded(broker: Broker, group: str) -> int:
    for _ in range(500):
        offset = await committed(broker, group)
        if offset >= -1:
            return offset
        await asyncio.sleep(0.01)
    raise AssertionError("the shard is never loaded")
