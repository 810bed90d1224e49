"""The consumer in an event loop."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.client.asynchronous.test_async_producer import _ticks
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill
from tests.conftest import UniqueName

from penstock import Admin, AsyncAdmin, AsyncConsumer, Message, TopicPartition
from penstock.client.errors import ClosedError, ConfigurationError, UnknownTopic


def grouped(broker: str, group: str, **settings: Any) -> AsyncConsumer:
    return AsyncConsumer(bootstrap_servers=broker, group_id=group, auto_offset_reset="earliest", **settings)


def test_async_iteration_poll_and_callback_give_every_message(broker: str, topic: str) -> None:
    fill(broker, topic, 1000)

    async def run() -> list[int]:
        seen: list[int] = []
        async with AsyncConsumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
            await consumer.assign([(topic, 0)])
            async for message in consumer:
                seen.append(message.offset)
                if message.offset == 399:
                    break
            seen += [each.offset for each in await consumer.poll(20, 1)]
            one = await consumer.consume_one(20)
            assert one is not None
            seen.append(one.offset)

            async def note(message: Message) -> bool:
                seen.append(message.offset)
                return message.offset < 500

            await consumer.start_consuming(note)
            seen += [message.offset async for message in consumer.messages(idle_timeout=2)]
        return seen

    assert asyncio.run(run()) == list(range(1000))


def test_waiting_for_messages_does_not_hold_up_the_loop(broker: str, topic: str) -> None:
    async def run() -> int:
        async with AsyncConsumer(bootstrap_servers=broker) as consumer:
            await consumer.assign([(topic, 0)])
            ticks = asyncio.ensure_future(_ticks())
            assert await consumer.poll(0.5) == []
            ticks.cancel()
            return await ticks

    assert asyncio.run(run()) > 5


def test_cancelled_poll_loses_no_message_and_commits_none(
    broker: str, admin: Admin, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 100)
    group = unique("group")

    async def run() -> list[int]:
        seen: list[int] = []
        async with grouped(broker, group, auto_commit_interval_ms=10) as consumer:
            await consumer.assign([(topic, 0)])
            for pause in range(20):
                task = asyncio.ensure_future(consumer.poll(5, 5))
                await asyncio.sleep(pause / 1000)
                task.cancel()
                try:
                    seen += [each.offset for each in await task]
                except asyncio.CancelledError:
                    committed = (await consumer.committed())[TopicPartition(topic, 0)]
                    assert (committed or 0) <= len(seen)
            while len(seen) < 90:
                seen += [each.offset for each in await consumer.poll(5, 5)]
        return seen

    seen = asyncio.run(run())
    assert seen == list(range(len(seen)))
    assert admin.group_offsets(group) == {(topic, 0): len(seen)}


def test_callbacks_may_be_coroutines_that_seek_and_commit(
    broker: str, admin: Admin, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 10)
    group = unique("group")
    heard: list[str] = []

    async def run() -> None:
        async with grouped(broker, group, enable_auto_commit=False) as consumer:

            async def on_assigned(partitions: Sequence[TopicPartition]) -> None:
                await consumer.seek(partitions[0], 4)
                heard.append("assigned")

            async def on_revoked(partitions: Sequence[TopicPartition]) -> None:
                await consumer.commit()
                heard.append("revoked")

            await consumer.subscribe(topic, on_assigned=on_assigned, on_revoked=on_revoked)
            first = None
            while first is None:
                first = await consumer.consume_one(5)
            assert first.offset == 4

    asyncio.run(run())
    assert heard == ["assigned", "revoked"]
    assert admin.group_offsets(group) == {(topic, 0): 5}


def test_everything_else_works_as_without_a_loop(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic = make_topic()
    fill(broker, topic, 10)

    async def run() -> None:
        async with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
            await consumer.assign([(topic, 0)])
            assert await consumer.assignment() == [(topic, 0)]
            await consumer.seek((topic, 0), 3)
            assert (await consumer.poll(20, 1))[0].offset == 3
            assert (await consumer.lag()).total == 6
            assert await consumer.position() == {(topic, 0): 4}
            await consumer.commit()
            assert await consumer.committed() == {(topic, 0): 4}
            await consumer.seek_to_beginning()
            await consumer.pause()
            assert await consumer.poll(0.2) == []
            await consumer.resume()
            assert (await consumer.poll(20, 1))[0].offset == 0
            await consumer.seek_to_end()
            await consumer.seek_to_time(1)
            await consumer.rewind()
            assert (await consumer.poll(20, 1))[0].offset == 4
            await consumer.unsubscribe()
            assert await consumer.assignment() == []

    asyncio.run(run())


def test_errors_are_raised_and_a_closed_consumer_says_so(broker: str, unique: UniqueName) -> None:
    async def run() -> None:
        consumer = grouped(broker, unique("group"))
        await consumer.subscribe(unique("nowhere"))
        with pytest.raises(UnknownTopic):  # noqa: PT012
            while True:
                await consumer.poll(1)
        await consumer.close()
        await consumer.close()
        with pytest.raises(ClosedError):
            await consumer.poll()

    asyncio.run(run())


def test_subscription_without_a_group_is_told_of_partitions_by_hand(broker: str) -> None:
    async def run() -> None:
        async with AsyncConsumer(bootstrap_servers=broker) as consumer:
            with pytest.raises(ConfigurationError, match=r"without a group, .* assign\("):
                await consumer.subscribe("t")

    asyncio.run(run())


def test_administrator_works_in_a_loop(broker: str, unique: UniqueName) -> None:
    async def run() -> None:
        name = unique("admin")
        async with AsyncAdmin(bootstrap_servers=broker) as admin:
            await admin.create_topic(name, partitions=2)
            assert name in await admin.list_topics()
            described, cluster = await asyncio.gather(admin.describe_topic(name), admin.describe_cluster())
            assert len(described.partitions) == 2
            assert cluster.brokers
            await admin.alter_config(name, {"retention.ms": 5})
            assert (await admin.describe_config(name))["retention.ms"].value == "5"
            with pytest.raises(UnknownTopic):
                await admin.describe_topic(unique("nowhere"))
            await admin.delete_topics(name)
        with pytest.raises(ClosedError):
            await admin.list_topics()

    asyncio.run(run())
