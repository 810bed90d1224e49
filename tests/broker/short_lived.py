"""Topics whose records expire at once, and what may come between the steps of their upkeep."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.broker.coordination.living_broker import ask

from penstock.broker.broker import Broker
from penstock.broker.partition import Partition
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

DIRECTORY = "/data/orders-0"

Act = Callable[[], Awaitable[None]]


async def make_short_lived(broker: Broker, name: str = "orders") -> Partition:
    """A topic whose records are too old at once."""
    settings = (
        CreatableTopicConfig(name="retention.ms", value="1000"),
        CreatableTopicConfig(name="file.delete.delay.ms", value="3600000"),
    )
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=settings)
    await ask(broker, CreateTopicsRequest(topics=(topic,)))
    return broker.replicas.by_name(name, 0)


async def append(broker: Broker, partition: Partition) -> None:
    """A record from long ago."""
    batch = build_batch([NewRecord(value=b"x", timestamp=1)])
    partition.append(batch, read_header(batch), broker.clock.wall_ms())
    await broker.flusher.drain()


async def fill_and_roll(broker: Broker, partition: Partition) -> None:
    """Until the next expiry has a segment to delete."""
    await append(broker, partition)
    await broker.upkeep.expire(partition)
    await broker.flusher.drain()


async def delete_topic(broker: Broker) -> None:
    await ask(broker, DeleteTopicsRequest(topics=(DeleteTopicState(name="orders"),)))


async def make_again(broker: Broker) -> None:
    """Delete the topic, and make another of its name, with an acknowledged record and two segments."""
    await delete_topic(broker)
    await fill_and_roll(broker, await make_short_lived(broker))


def files(disk: MemoryFileSystem) -> dict[str, bytes]:
    return {name: disk.read_file(f"{DIRECTORY}/{name}") for name in disk.list_directory(DIRECTORY)}


def before_first(monkeypatch: pytest.MonkeyPatch, broker: Broker, kind: type, act: Act) -> None:
    """Let something happen just before the broker's workers get the first job of some kind."""
    call = broker.workers.call
    has_acted = False

    async def run(function: Callable[..., Any], *arguments: object) -> Any:
        nonlocal has_acted
        if isinstance(getattr(function, "__self__", None), kind) and not has_acted:
            has_acted = True
            await act()
        return await call(function, *arguments)

    monkeypatch.setattr(broker.workers, "call", run)
