"""aiokafka alone in a group: positions, commits, replay and resets."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition, errors
from aiokafka.structs import OffsetAndMetadata
from tests.conftest import UniqueName
from tests.interop.confluent import make_producer, send
from tests.interop.conftest import MakeTopic

pytestmark = pytest.mark.interop

FIRST_TIMESTAMP = 1_600_000_000_000
SCENARIO_SECONDS = 40


@pytest.fixture
def partition(lively: str, make_topic: MakeTopic) -> TopicPartition:
    """Ten records in it, a second apart."""
    ((name, _),) = make_topic(1)
    send(
        make_producer(lively),
        name,
        [{"value": b"%d" % n, "partition": 0, "timestamp": FIRST_TIMESTAMP + 1000 * n} for n in range(10)],
    )
    return TopicPartition(name, 0)


@asynccontextmanager
async def joined(bootstrap: str, group: str, topic: str, **settings: Any) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer that has been given its partitions."""
    client = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        **{
            "session_timeout_ms": 6000,
            "heartbeat_interval_ms": 500,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "fetch_max_wait_ms": 50,
            **settings,
        },
    )
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


def run(scenario: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(SCENARIO_SECONDS):
            await scenario

    asyncio.run(bounded())


async def offsets(client: AIOKafkaConsumer, count: int) -> list[int]:
    return [(await client.getone()).offset for _ in range(count)]


def test_commit_is_where_the_next_consumer_begins(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    async def scenario() -> None:
        group = unique("group")
        async with joined(lively, group, partition.topic) as client:
            assert await offsets(client, 10) == list(range(10))
            await client.commit({partition: OffsetAndMetadata(4, "half way")})
            assert await client.committed(partition) == 4
        async with joined(lively, group, partition.topic) as client:
            assert await offsets(client, 6) == [4, 5, 6, 7, 8, 9]
            commits = [asyncio.ensure_future(client.commit({partition: at})) for at in (5, 6, 7)]
            await asyncio.gather(*commits)
            assert await client.committed(partition) == 7

    run(scenario())


def test_automatic_commit_happens_on_close(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    async def scenario() -> None:
        group = unique("group")
        async with joined(lively, group, partition.topic, enable_auto_commit=True) as client:
            await offsets(client, 3)
        async with joined(lively, group, partition.topic) as client:
            assert await offsets(client, 7) == [3, 4, 5, 6, 7, 8, 9]

    run(scenario())


def test_paused_partition_is_silent_until_it_is_resumed(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    async def scenario() -> None:
        async with joined(lively, unique("group"), partition.topic) as client:
            await offsets(client, 10)
            client.pause(partition)
            send(make_producer(lively), partition.topic, [{"value": b"late", "partition": 0}])
            assert await client.getmany(timeout_ms=500) == {}
            client.resume(partition)
            assert await offsets(client, 1) == [10]

    run(scenario())


def test_records_are_replayed_from_an_offset_and_from_a_timestamp(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    async def scenario() -> None:
        async with joined(lively, unique("group"), partition.topic) as client:
            await offsets(client, 10)
            client.seek(partition, 6)
            assert await offsets(client, 4) == [6, 7, 8, 9]
            await client.seek_to_beginning(partition)
            assert await offsets(client, 10) == list(range(10))
            found = (await client.offsets_for_times({partition: FIRST_TIMESTAMP + 6500}))[partition]
            assert found.offset == 7
            client.seek(partition, found.offset)
            assert [(await client.getone()).value for _ in range(3)] == [b"7", b"8", b"9"]

    run(scenario())


def test_group_without_offsets_begins_where_it_is_told(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    topic = partition.topic

    async def scenario() -> None:
        async with joined(lively, unique("group"), topic, auto_offset_reset="earliest") as client:
            assert await offsets(client, 1) == [0]
        async with joined(lively, unique("group"), topic, auto_offset_reset="latest") as client:
            assert await client.position(partition) == 10
            send(make_producer(lively), topic, [{"value": b"new", "partition": 0}])
            assert (await client.getone()).value == b"new"
        async with joined(lively, unique("group"), topic, auto_offset_reset="none") as client:
            with pytest.raises(errors.NoOffsetForPartitionError):
                await client.getone()

    run(scenario())
