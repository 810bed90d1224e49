"""aiokafka: the client that speaks only the oldest versions of most requests."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition, errors
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from tests.cluster_size import REPLICATION_FACTOR
from tests.conftest import UniqueName
from tests.raw_kafka import Connection

pytestmark = pytest.mark.interop

CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
READ_SECONDS = 20


@asynccontextmanager
async def admin(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def producer(bootstrap: str, **settings: Any) -> AsyncIterator[AIOKafkaProducer]:
    client = AIOKafkaProducer(bootstrap_servers=bootstrap, **settings)
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


@asynccontextmanager
async def assigned(
    bootstrap: str, *partitions: TopicPartition, **settings: Any
) -> AsyncIterator[AIOKafkaConsumer]:
    client = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, group_id=None, auto_offset_reset="earliest", **settings
    )
    await client.start()
    try:
        client.assign(list(partitions))
        yield client
    finally:
        await client.stop()


async def create_topic(bootstrap: str, name: str, *, partitions: int = 1, **config: str) -> TopicPartition:
    """The topic's first partition, once it can be seen."""
    settings = {"retention.ms": "-1", **{key.replace("_", "."): value for key, value in config.items()}}
    async with admin(bootstrap) as client:
        await client.create_topics([NewTopic(name, partitions, REPLICATION_FACTOR, topic_configs=settings)])
        await until(lambda: _is_listed(client, name), what=f"{name} in metadata")
    return TopicPartition(name, 0)


async def _is_listed(client: AIOKafkaAdminClient, name: str) -> bool:
    return name in await client.list_topics()


async def until(condition: Callable[[], Awaitable[bool]], *, what: str) -> None:
    deadline = time.monotonic() + READ_SECONDS
    while not await condition():
        assert time.monotonic() < deadline, f"not in time: {what}"
        await asyncio.sleep(0.02)


async def read(client: AIOKafkaConsumer, count: int) -> list[Any]:
    async with asyncio.timeout(READ_SECONDS):
        return [await client.getone() for _ in range(count)]


@pytest.mark.parametrize("codec", [None, *CODECS])
def test_codec_round_trip_keeps_every_record(bootstrap: str, unique: UniqueName, codec: str | None) -> None:
    wanted = [b"%06d" % index * (1 + index % 40) for index in range(300)]

    async def scenario() -> str:
        partition = await create_topic(bootstrap, unique())
        async with producer(bootstrap, compression_type=codec, linger_ms=20) as client:
            await asyncio.gather(*[await client.send(partition.topic, value) for value in wanted])
        async with assigned(bootstrap, partition, check_crcs=True) as consumer:
            assert [record.value for record in await read(consumer, 300)] == wanted
        return str(partition.topic)

    topic = asyncio.run(scenario())
    with Connection(bootstrap) as raw:
        assert {batch.codec for batch in raw.fetch_all(topic)} == {CODECS.get(codec or "", 0)}


def test_record_parts_timestamps_and_headers_survive(bootstrap: str, unique: UniqueName) -> None:
    headers = [("h", b"1"), ("h", b""), ("ünï", bytes(range(256)))]

    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique())
        topic = partition.topic
        async with producer(bootstrap) as client:
            sent = await client.send_and_wait(topic, b"v", key=b"k", headers=headers, timestamp_ms=7000)
            assert (sent.offset, sent.timestamp) == (0, 7000)
            await client.send_and_wait(topic, None, key=b"")
            await client.send_and_wait(topic, b"", key=None)
        async with assigned(bootstrap, partition) as consumer:
            first, second, third = await read(consumer, 3)
        assert (first.key, first.value, first.timestamp) == (b"k", b"v", 7000)
        assert list(first.headers) == headers
        assert (second.key, second.value) == (b"", None)
        assert (third.key, third.value) == (None, b"")

    asyncio.run(scenario())


def test_log_append_time_is_told_to_producer_and_consumer_alike(bootstrap: str, unique: UniqueName) -> None:
    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique(), message_timestamp_type="LogAppendTime")
        async with producer(bootstrap) as client:
            sent = await client.send_and_wait(partition.topic, b"v", timestamp_ms=5)
        assert abs(sent.timestamp - time.time() * 1000) < 60_000
        async with assigned(bootstrap, partition, check_crcs=True) as consumer:
            (record,) = await read(consumer, 1)
        assert (record.timestamp, record.timestamp_type) == (sent.timestamp, 1)

    asyncio.run(scenario())


def test_offsets_are_found_by_time_beginning_and_end(bootstrap: str, unique: UniqueName) -> None:
    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique())
        async with producer(bootstrap, acks="all") as client:
            for index in range(5):
                await client.send_and_wait(partition.topic, b"x", timestamp_ms=10_000 + 100 * index)
        async with assigned(bootstrap, partition) as consumer:
            assert await consumer.beginning_offsets([partition]) == {partition: 0}
            assert await consumer.end_offsets([partition]) == {partition: 5}
            found = (await consumer.offsets_for_times({partition: 10_150}))[partition]
            assert (found.offset, found.timestamp) == (2, 10_200)
            assert (await consumer.offsets_for_times({partition: 10_401}))[partition] is None
            consumer.seek(partition, 3)
            assert [record.offset for record in await read(consumer, 2)] == [3, 4]

    asyncio.run(scenario())


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_acks_level_delivers_everything(bootstrap: str, unique: UniqueName, acks: int | str) -> None:
    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique())
        wanted = [b"%d" % index for index in range(100)]
        async with producer(bootstrap, acks=acks) as client:
            for value in wanted:
                await client.send(partition.topic, value)
        async with assigned(bootstrap, partition) as consumer:
            assert [record.value for record in await read(consumer, 100)] == wanted

    asyncio.run(scenario())


def test_idempotent_producer_keeps_order(bootstrap: str, unique: UniqueName) -> None:
    async def scenario() -> str:
        partition = await create_topic(bootstrap, unique())
        async with producer(bootstrap, enable_idempotence=True, max_batch_size=200) as client:
            await asyncio.gather(*[await client.send(partition.topic, b"%d" % index) for index in range(500)])
        return str(partition.topic)

    topic = asyncio.run(scenario())
    with Connection(bootstrap) as raw:
        stored = raw.fetch_all(topic)
        assert [batch.base_sequence for batch in stored] == [batch.base_offset for batch in stored]
        assert raw.fetch_values(topic) == [b"%d" % index for index in range(500)]


def test_record_larger_than_the_fetch_limit_comes_through(bootstrap: str, unique: UniqueName) -> None:
    big = random.Random(5).randbytes(700_000)

    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique())
        async with producer(bootstrap, max_request_size=1_000_000) as client:
            await client.send_and_wait(partition.topic, big)
            await client.send_and_wait(partition.topic, b"small")
        async with assigned(bootstrap, partition, max_partition_fetch_bytes=1000) as consumer:
            assert [record.value for record in await read(consumer, 2)] == [big, b"small"]

    asyncio.run(scenario())


def test_record_over_the_topics_limit_is_refused(bootstrap: str, unique: UniqueName) -> None:
    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique(), max_message_bytes="1000")
        async with producer(bootstrap) as client:
            with pytest.raises(errors.MessageSizeTooLargeError):
                await client.send_and_wait(partition.topic, random.Random(6).randbytes(50_000))
            assert (await client.send_and_wait(partition.topic, b"fits")).offset == 0

    asyncio.run(scenario())


def test_parked_fetch_wakes_up_when_a_record_arrives(bootstrap: str, unique: UniqueName) -> None:
    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique())
        async with (
            assigned(bootstrap, partition, fetch_max_wait_ms=10_000) as consumer,
            producer(bootstrap) as client,
        ):
            parked = asyncio.create_task(read(consumer, 1), name="parked fetch")
            await asyncio.wait([parked], timeout=0.5)
            assert not parked.done()
            began = time.monotonic()
            await client.send_and_wait(partition.topic, b"x")
            await parked
            assert time.monotonic() - began < 2.0

    asyncio.run(scenario())


def test_topics_settings_and_records_are_administered(bootstrap: str, unique: UniqueName) -> None:
    async def scenario() -> None:
        partition = await create_topic(bootstrap, unique(), partitions=2)
        topic = partition.topic
        async with producer(bootstrap, acks="all") as client:
            for index in range(10):
                await client.send_and_wait(topic, b"%d" % index, partition=0)
        async with admin(bootstrap) as client:
            cluster = await client.describe_cluster()
            found = {f"{one['host']}:{one['port']}" for one in cluster["brokers"]}
            assert found == set(bootstrap.split(","))

            await client.create_partitions({topic: NewPartitions(3)})
            await until(lambda: _has_partitions(client, topic, 3), what="three partitions")

            resource = ConfigResource(ConfigResourceType.TOPIC, topic)
            assert (await _setting(client, resource, "retention.ms")) == "-1"

            deleted = await client.delete_records({partition: RecordsToDelete(before_offset=4)})
            assert deleted == {partition: 4}

            await client.delete_topics([topic])
            await until(lambda: _is_gone(client, topic), what="the topic to go")

    asyncio.run(scenario())


async def _has_partitions(client: AIOKafkaAdminClient, topic: str, count: int) -> bool:
    (described,) = await client.describe_topics([topic])
    return len(described["partitions"]) == count


async def _setting(client: AIOKafkaAdminClient, resource: ConfigResource, name: str) -> str:
    (answer,) = await client.describe_configs([resource])
    ((_, _, _, _, entries),) = answer.resources
    value: str = {entry[0]: entry[1] for entry in entries}[name]
    return value


async def _is_gone(client: AIOKafkaAdminClient, topic: str) -> bool:
    return topic not in await client.list_topics()
