"""Who fetches for an event loop, and that the caller cannot tell: by the loop itself, or by its thread.

A consumer with a function of the caller's among librdkafka's settings has its thread fetch everything; one
without has the loop fetch what is there.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill
from tests.conftest import UniqueName

from penstock import Admin, AsyncConsumer, Consumer, Message, TopicPartition
from penstock.client.asynchronous import consumer as consumer_module
from penstock.client.asynchronous.consumer import LISTS_MAX
from penstock.client.errors import ClosedError, ConfigurationError, OffsetUnavailable

PREFETCH_SECONDS = 1.0
"""Long enough for librdkafka to have some thousand small messages."""

Settings = dict[str, Any]


@pytest.fixture(params=["loop", "thread"])
def way(request: pytest.FixtureRequest) -> Settings:
    """Settings of a consumer for which the loop fetches, and for which the thread does."""
    return {} if request.param == "loop" else {"kafka": {"stats_cb": lambda _: None}}


def reader(broker: str, way: Settings, **settings: Any) -> AsyncConsumer:
    return AsyncConsumer(bootstrap_servers=broker, auto_offset_reset="earliest", **way, **settings)


async def read(consumer: AsyncConsumer, count: int) -> list[Message]:
    found: list[Message] = []
    deadline = time.monotonic() + 30
    while len(found) < count and time.monotonic() < deadline:
        found += await consumer.poll(1, count - len(found))
    assert len(found) == count, f"{len(found)} of {count} messages"
    return found


def noting_fetches(consumer: AsyncConsumer, thread_names: list[str]) -> None:
    """Note who asks librdkafka for messages, each time."""
    intake = consumer._inner._intake
    fetch = intake.fetch

    def noting(most: int, seconds: float) -> list[Any]:
        thread_names.append(threading.current_thread().name)
        return fetch(most, seconds)

    intake.fetch = noting  # type: ignore[method-assign]


async def read_all(
    broker: str, topic: str, count: int, settings: Settings, thread_names: list[str]
) -> list[int]:
    """The offsets of what an iteration gives when librdkafka has everything already."""
    async with reader(broker, {"kafka": settings}) as consumer:
        await consumer.assign([(topic, 0)])
        await read(consumer, 1)
        await asyncio.sleep(PREFETCH_SECONDS)
        noting_fetches(consumer, thread_names)
        seen = [0]
        async for message in consumer:
            seen.append(message.offset)
            if len(seen) == count:
                break
    return seen


@pytest.mark.parametrize(("settings", "is_by_thread"), [({}, False), ({"stats_cb": print}, True)])
def test_what_is_there_is_fetched_by_the_loop_unless_that_may_call_the_caller(
    broker: str, topic: str, settings: Settings, is_by_thread: bool
) -> None:
    fill(broker, topic, 6000)
    names: list[str] = []
    assert asyncio.run(read_all(broker, topic, 6000, settings, names)) == list(range(6000))
    by_thread = sum(name.startswith("penstock-consumer") for name in names)
    assert by_thread == len(names) if is_by_thread else by_thread < len(names) // 2


@pytest.mark.parametrize("is_quick", [True, False])
def test_thread_is_asked_once_for_many_lists_by_callers_who_are_quick(
    broker: str, topic: str, monkeypatch: pytest.MonkeyPatch, is_quick: bool
) -> None:
    monkeypatch.setattr(consumer_module, "VISIT_SECONDS", 60.0 if is_quick else 0.0)
    fill(broker, topic, 6000)
    asked: list[int] = []
    fetch_ahead = Consumer.fetch_ahead

    def noting(self: Consumer, timeout: float, most: int, lists: int) -> bool:
        asked.append(lists)
        return fetch_ahead(self, timeout, most, lists)

    monkeypatch.setattr(Consumer, "fetch_ahead", noting)
    assert asyncio.run(read_all(broker, topic, 6000, {"stats_cb": print}, [])) == list(range(6000))
    assert max(asked) == (LISTS_MAX if is_quick else 1)
    assert (len(asked) < 6000 // 300) == is_quick


def test_librdkafka_is_visited_before_every_list_that_a_slow_caller_is_given(
    broker: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "VISIT_SECONDS", 60.0)
    fill(broker, topic, 6000)

    async def run() -> list[int]:
        names: list[str] = []
        async with reader(broker, {"kafka": {"stats_cb": print}}) as consumer:
            await consumer.assign([(topic, 0)])
            seen = [each.offset for each in await read(consumer, 1)]
            await asyncio.sleep(PREFETCH_SECONDS)
            progress: Any = consumer._progress
            while not progress.has_waiting:
                seen += [each.offset for each in await consumer.poll(5)]
            noting_fetches(consumer, names)
            while progress.has_waiting:
                consumer._next_visit = 0.0
                visits = len(names)
                was_used_up = progress.is_used_up
                seen += [each.offset for each in await consumer.poll(5)]
                assert len(names) == visits + was_used_up
        return seen

    seen = asyncio.run(run())
    assert seen == list(range(len(seen)))


def test_long_lists_are_made_by_the_thread(broker: str, topic: str) -> None:
    fill(broker, topic, 3000)

    async def run() -> None:
        async with reader(broker, {}, max_poll_records=2000) as consumer:
            await consumer.assign([(topic, 0)])
            await read(consumer, 1)
            await asyncio.sleep(PREFETCH_SECONDS)
            assert len(await consumer.poll(20)) == 2000
            assert not consumer._can_fetch_here(2000)
            assert consumer._can_fetch_here(500)

    asyncio.run(run())


@pytest.mark.parametrize("seconds", [0.0, 0.002])
def test_other_tasks_get_their_turn_while_messages_are_read(
    broker: str, topic: str, way: Settings, seconds: float
) -> None:
    count = 6000 if not seconds else 60
    fill(broker, topic, count)

    async def run() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with reader(broker, way) as consumer:
            await consumer.assign([(topic, 0)])
            await read(consumer, 1)
            await asyncio.sleep(PREFETCH_SECONDS)
            ticking = asyncio.ensure_future(tick())
            async for message in consumer:
                if seconds:
                    time.sleep(seconds)  # noqa: ASYNC251 -- The task keeps the loop to itself: that is the situation.
                if message.offset == count - 1:
                    break
            ticking.cancel()
        return ticks

    assert asyncio.run(run()) >= (12 if seconds else 3)


@pytest.mark.parametrize("most", [5, 700])
def test_cancelled_poll_loses_no_message_and_commits_none(
    broker: str, admin: Admin, topic: str, unique: UniqueName, way: Settings, most: int
) -> None:
    fill(broker, topic, 2000)
    group = unique("group")

    async def run() -> list[int]:
        seen: list[int] = []
        async with reader(broker, way, group_id=group, auto_commit_interval_ms=10) as consumer:
            await consumer.assign([(topic, 0)])
            for number in range(30):
                task = asyncio.ensure_future(consumer.poll(5, most))
                await asyncio.sleep(number % 6 / 1000)
                task.cancel()
                try:
                    seen += [each.offset for each in await task]
                except asyncio.CancelledError:
                    committed = (await consumer.committed())[TopicPartition(topic, 0)]
                    assert (committed or 0) <= len(seen)
            seen += [each.offset for each in await read(consumer, min(40, 2000 - len(seen)))]
        return seen

    seen = asyncio.run(run())
    assert seen == list(range(len(seen)))
    assert admin.group_offsets(group) == {(topic, 0): len(seen)}


def test_cancelled_iteration_loses_no_message(broker: str, topic: str, way: Settings) -> None:
    fill(broker, topic, 2000)

    async def run() -> list[int]:
        seen: list[int] = []

        async def note(consumer: AsyncConsumer) -> None:
            async for message in consumer:
                seen.append(message.offset)
                if message.offset % 97 == 0:
                    await asyncio.sleep(0)

        async with reader(broker, way) as consumer:
            await consumer.assign([(topic, 0)])
            for number in range(20):
                task = asyncio.ensure_future(note(consumer))
                await asyncio.sleep(number % 5 / 1000)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            return seen + [each.offset for each in await read(consumer, 2000 - len(seen))]

    assert asyncio.run(run()) == list(range(2000))


def test_automatic_commit_is_behind_the_caller_and_never_ahead(
    broker: str, topic: str, unique: UniqueName, way: Settings
) -> None:
    fill(broker, topic, 1000)
    place = TopicPartition(topic, 0)

    async def run() -> None:
        settings = {"group_id": unique("group"), "auto_commit_interval_ms": 20}
        async with reader(broker, way, **settings) as consumer:
            await consumer.assign([place])
            await read(consumer, 10)
            for _ in range(10):  # Many intervals; but nobody has asked for more.
                assert await consumer.committed() == {place: None}
                await asyncio.sleep(0.01)
            await read(consumer, 10)
            while await consumer.committed() != {place: 10}:
                await asyncio.sleep(0.01)
            async for message in consumer:
                if message.offset % 50 == 0:
                    await asyncio.sleep(0.03)
                    assert (await consumer.committed())[place] <= message.offset  # type: ignore[operator]
                if message.offset == 700:
                    break
            await read(consumer, 1)
            while await consumer.committed() != {place: 701}:
                await asyncio.sleep(0.01)

    asyncio.run(run())


def test_iteration_follows_what_is_done_meanwhile(broker: str, topic: str, way: Settings) -> None:
    fill(broker, topic, 1000)

    async def run() -> list[int]:
        seen: list[int] = []
        async with reader(broker, way) as consumer:
            await consumer.assign([(topic, 0)])
            async for message in consumer:
                seen.append(message.offset)
                if message.offset == 2 and seen.count(2) == 1:
                    await consumer.seek((topic, 0), 1)
                if message.offset == 5:
                    seen += [each.offset for each in await read(consumer, 3)]
                if message.offset == 9:
                    await consumer.seek((topic, 0), 998)
                if message.offset == 999:
                    return seen
        return seen

    assert asyncio.run(run()) == [0, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 998, 999]


def test_paused_partition_gives_nothing_to_other_tasks_and_loses_nothing(
    broker: str, make_topic: MakeTopic, way: Settings
) -> None:
    topic, count = make_topic(2), 2000
    for partition in range(2):
        fill(broker, topic, count, partition=partition)
    seen: list[list[int]] = [[], []]

    async def run() -> None:
        paused: set[int] = set()

        async def note(consumer: AsyncConsumer) -> None:
            async for message in consumer:
                assert message.partition not in paused
                seen[message.partition].append(message.offset)
                if message.offset % 7 == 0:
                    await asyncio.sleep(0)

        async with reader(broker, way) as consumer:
            await consumer.assign([(topic, 0), (topic, 1)])
            noting = asyncio.ensure_future(note(consumer))
            for number in range(12):
                await consumer.pause([(topic, number % 2)])
                paused.add(number % 2)
                await asyncio.sleep(0.01)
                paused.clear()
                await consumer.resume()
            while not noting.done() and sum(map(len, seen)) < 2 * count:
                await asyncio.sleep(0.01)
            noting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await noting

    asyncio.run(run())
    assert seen == [list(range(count))] * 2


def test_nothing_of_what_was_left_comes_afterwards(
    broker: str, make_topic: MakeTopic, unique: UniqueName, way: Settings
) -> None:
    one, other = make_topic(), make_topic()
    fill(broker, one, 1000)
    fill(broker, other, 5)

    async def run() -> None:
        async with reader(broker, way, group_id=unique("group")) as consumer:
            await consumer.assign([(one, 0)])
            await read(consumer, 10)
            await consumer.unsubscribe()
            assert await consumer.poll(0.3) == []
            await consumer.assign([(other, 0)])
            assert {each.topic for each in await read(consumer, 5)} == {other}
            await consumer.subscribe(one)
            assert (await read(consumer, 1))[0].offset == 10

    asyncio.run(run())


def test_closing_ends_iteration_and_commits_what_was_handed_over(
    broker: str, admin: Admin, topic: str, unique: UniqueName, way: Settings
) -> None:
    fill(broker, topic, 1000)
    group = unique("group")

    async def run() -> list[int]:
        seen: list[int] = []
        consumer = reader(broker, way, group_id=group)
        await consumer.assign([(topic, 0)])
        with pytest.raises(ClosedError):  # noqa: PT012
            async for message in consumer:
                seen.append(message.offset)
                if message.offset == 20:
                    await consumer.close()
        return seen

    assert asyncio.run(run()) == list(range(21))
    assert admin.group_offsets(group) == {(topic, 0): 21}


def test_error_of_one_partition_takes_no_message_of_another(
    broker: str, make_topic: MakeTopic, way: Settings
) -> None:
    topic = make_topic(2)
    fill(broker, topic, 1000)

    async def run() -> list[int]:
        seen: list[int] = []
        errors = 0
        settings = way | {"bootstrap_servers": broker, "auto_offset_reset": "none"}
        async with AsyncConsumer(**settings) as consumer:
            await consumer.assign({(topic, 0): 0, (topic, 1): 99})
            while not errors or len(seen) < 1000:
                try:
                    seen += [each.offset for each in await consumer.poll(5)]
                except OffsetUnavailable:
                    errors += 1
        assert errors == 1
        return seen

    assert asyncio.run(run()) == list(range(1000))


@pytest.mark.parametrize("hears", [False, True])
def test_member_is_given_nothing_of_what_it_has_lost(
    broker: str, make_topic: MakeTopic, unique: UniqueName, hears: bool
) -> None:
    topic, group = make_topic(2), unique("group")
    for partition in range(2):
        fill(broker, topic, 1000, partition=partition)
    loop_thread = threading.get_ident()
    owned: set[TopicPartition] = set()

    async def on_assigned(partitions: Sequence[TopicPartition]) -> None:
        assert threading.get_ident() == loop_thread
        owned.update(partitions)

    async def on_revoked(partitions: Sequence[TopicPartition]) -> None:
        assert threading.get_ident() == loop_thread
        owned.difference_update(partitions)

    async def run() -> list[tuple[int, int]]:
        seen: list[tuple[int, int]] = []
        one, other = (reader(broker, {}, group_id=group, max_poll_records=40) for _ in range(2))
        async with one, other:
            if hears:
                await one.subscribe(topic, on_assigned=on_assigned, on_revoked=on_revoked)
            else:
                await one.subscribe(topic)
            seen += [(each.partition, each.offset) for each in await read(one, 50)]
            await other.subscribe(topic)
            deadline = time.monotonic() + 60
            while len(set(seen)) < 2000 and time.monotonic() < deadline:
                most = 40 if await other.assignment() else 1
                for member in (one, other):
                    messages = await member.poll(0.02, most)
                    places = {each.topic_partition for each in messages}
                    assert places <= set(await member.assignment())
                    assert member is other or not hears or places <= owned
                    seen += [(each.partition, each.offset) for each in messages]
            assert await other.assignment()
        return seen

    seen = asyncio.run(run())
    assert sorted(seen) == [(partition, offset) for partition in range(2) for offset in range(1000)]


def test_member_that_iterates_hears_of_revocation_before_another_has_the_partition(
    broker: str, make_topic: MakeTopic, unique: UniqueName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Much is fetched ahead: nothing of it may be given, or committed, once the partition goes."""
    monkeypatch.setattr(consumer_module, "VISIT_SECONDS", 1.0)
    topic, group, count = make_topic(2), unique("group"), 6000
    for partition in range(2):
        fill(broker, topic, count, partition=partition)
    seen: list[list[int]] = [[], []]
    rest: list[list[int]] = [[], []]
    owned: set[TopicPartition] = set()

    async def on_assigned(partitions: Sequence[TopicPartition]) -> None:
        await asyncio.sleep(0)
        owned.update(partitions)

    async def on_revoked(partitions: Sequence[TopicPartition]) -> None:
        await asyncio.sleep(0.05)
        owned.difference_update(partitions)

    async def iterate(consumer: AsyncConsumer) -> None:
        async for message in consumer:
            assert message.topic_partition in owned
            seen[message.partition].append(message.offset)
            if message.offset % 10 == 0 and not any(rest):
                await asyncio.sleep(0.01)  # Or all would be read before the other member is one.

    async def run() -> None:
        one, other = (reader(broker, {}, group_id=group, max_poll_records=20) for _ in range(2))
        async with one, other, asyncio.timeout(60):
            await one.subscribe(topic, on_assigned=on_assigned, on_revoked=on_revoked)
            iterating = asyncio.ensure_future(iterate(one))
            while not any(seen):
                await asyncio.sleep(0.01)
            await other.subscribe(topic)
            while sum(map(len, seen + rest)) < 2 * count and not iterating.done():
                for message in await other.poll(0.1):
                    assert message.topic_partition not in owned
                    rest[message.partition].append(message.offset)
            iterating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await iterating

    asyncio.run(run())
    assert any(rest)
    assert [first + last for first, last in zip(seen, rest, strict=True)] == [list(range(count))] * 2


def test_callbacks_of_a_subscription_that_was_left_still_run(
    broker: str, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 10)
    heard: list[str] = []

    async def run() -> None:
        async with reader(broker, {}, group_id=unique("group")) as consumer:

            async def on_revoked(_: Sequence[TopicPartition]) -> None:
                await asyncio.sleep(0)
                heard.append("revoked")

            await consumer.subscribe(topic, on_revoked=on_revoked)
            await read(consumer, 1)
            await consumer.unsubscribe()
            await consumer.assign([(topic, 0)])
            async with asyncio.timeout(30):
                await read(consumer, 5)

    asyncio.run(run())
    assert heard == ["revoked"]


@pytest.mark.parametrize("leave", [AsyncConsumer.close, AsyncConsumer.unsubscribe])
def test_leaving_waits_for_a_callback_that_runs(
    broker: str, topic: str, unique: UniqueName, leave: Callable[[AsyncConsumer], Awaitable[None]]
) -> None:
    fill(broker, topic, 10)
    heard: list[str] = []

    async def run() -> None:
        async with reader(broker, {}, group_id=unique("group"), client_id=unique("client")) as consumer:
            begun = asyncio.Event()

            async def on_assigned(_: Sequence[TopicPartition]) -> None:
                begun.set()
                await asyncio.sleep(0.3)
                with pytest.raises(ConfigurationError, match="when poll has returned"):
                    await consumer.poll()
                heard.append("assigned")

            await consumer.subscribe(
                topic, on_assigned=on_assigned, on_revoked=lambda _: heard.append("revoked")
            )
            polling = asyncio.ensure_future(consumer.poll(30))
            await begun.wait()
            await leave(consumer)
            heard.append("left")
            await consumer.close()
            with suppress(ClosedError):
                await polling
        name = consumer._worker._name
        wait_until(lambda: name not in [each.name for each in threading.enumerate()], what="no thread")

    asyncio.run(run())
    assert heard == ["assigned", "revoked", "left"]
