"""Offsets of groups in transactions: they count when the transaction commits, or not at all."""

import asyncio
from typing import Any

import pytest
from tests.broker.coordination.living_broker import (
    commit,
    committed,
    committed_once_loaded,
    fetch_of,
    find_group,
    living_broker,
    make_topic,
    new_disk,
)
from tests.broker.transactions.producer_client import Client, Producer, connected
from tests.broker.transactions.stories import FEW, PROTOCOLS, state_of, tell

from penstock.broker.broker import Broker
from penstock.broker.coordination.coordinator import Coordinator
from penstock.model.error_codes import ErrorCode
from penstock.model.names import OFFSETS_TOPIC
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.offset_fetch import OffsetFetchRequest


async def holding_offsets(
    broker: Broker, client: Client, *, is_second: bool, offset: int = 7, timeout_ms: int = 60_000
) -> Producer:
    """A producer whose open transaction commits an offset of group g."""
    await find_group(broker, "g")
    producer = Producer(client, is_second=is_second)
    assert await producer.init(timeout_ms=timeout_ms) == ErrorCode.NONE
    if not is_second:
        assert await producer.add_offsets("g") == ErrorCode.NONE
    assert await producer.commit_offset("g", offset) == ErrorCode.NONE
    return producer


async def until_committed(broker: Broker, offset: int, group: str = "g") -> None:
    async with asyncio.timeout(10):
        while await committed(broker, group) != offset:
            await asyncio.sleep(0.002)


async def stable_code(client: Client) -> int:
    """What a reader is told that wants no offset which may still change."""
    wanted = fetch_of("g").groups
    response = await client.ask(OffsetFetchRequest(groups=wanted, require_stable=True), 8)
    return int(response.groups[0].topics[0].partitions[0].error_code)


@PROTOCOLS
def test_offsets_count_when_the_transaction_commits_and_not_before(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await holding_offsets(broker, client, is_second=is_second)
        assert await committed(broker, "g") == -1
        assert await stable_code(client) == ErrorCode.UNSTABLE_OFFSET_COMMIT
        assert await producer.end() == ErrorCode.NONE
        await until_committed(broker, 7)
        assert await stable_code(client) == ErrorCode.NONE

    tell(story)


@PROTOCOLS
def test_offsets_are_found_where_their_topic_has_them_however_late_and_large_it_was_made(
    is_second: bool,
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        assert await Producer(client, "before").init() == ErrorCode.NONE
        topic = CreatableTopic(name=OFFSETS_TOPIC, num_partitions=7, replication_factor=1)
        (made,) = (await client.ask(CreateTopicsRequest(topics=(topic,)))).topics
        assert made.error_code == ErrorCode.NONE
        for group in ("g", "h", "i"):
            producer = Producer(client, is_second=is_second)
            assert await producer.init() == ErrorCode.NONE
            if not is_second:
                assert await producer.add_offsets(group) == ErrorCode.NONE
            assert await producer.commit_offset(group, 7) == ErrorCode.NONE
            assert await producer.end() == ErrorCode.NONE
            await until_committed(broker, 7, group)

    tell(story)


@PROTOCOLS
def test_offsets_of_an_aborted_transaction_never_were(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        await find_group(broker, "g")
        assert await commit(broker, "g", 3) == ErrorCode.NONE
        producer = await holding_offsets(broker, client, is_second=is_second)
        assert await producer.end(is_commit=False) == ErrorCode.NONE
        async with asyncio.timeout(10):
            while await stable_code(client) != ErrorCode.NONE:
                await asyncio.sleep(0.002)
        assert await committed(broker, "g") == 3

    tell(story)


@PROTOCOLS
def test_offsets_of_a_transaction_that_times_out_never_were(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await holding_offsets(broker, client, is_second=is_second, timeout_ms=150)
        async with asyncio.timeout(10):
            while await stable_code(client) != ErrorCode.NONE:
                await asyncio.sleep(0.01)
        assert await committed(broker, "g") == -1
        assert await producer.commit_offset("g", 9) == ErrorCode.INVALID_PRODUCER_EPOCH

    tell(story)


@PROTOCOLS
@pytest.mark.parametrize("is_crash", [False, True], ids=["stopped", "crashed"])
def test_waiting_offsets_survive_a_restart(is_second: bool, is_crash: bool) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await holding_offsets(broker, client, is_second=is_second)
            if is_crash:
                disk.crash()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            producer.client = client
            assert await committed_once_loaded(broker, "g") == -1
            assert await stable_code(client) == ErrorCode.UNSTABLE_OFFSET_COMMIT
            async with asyncio.timeout(10):
                while await producer.end() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                    await asyncio.sleep(0.005)
            await until_committed(broker, 7)

    asyncio.run(run())


@PROTOCOLS
def test_offsets_are_committed_after_a_crash_before_the_marker(
    is_second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(broker: Broker, *_: Any, **__: Any) -> "asyncio.Future[ErrorCode]":
        return broker.loop.create_future()

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            monkeypatch.setattr("penstock.broker.transaction_orders.write_marker", never)
            producer = await holding_offsets(broker, client, is_second=is_second)
            assert await producer.end() == ErrorCode.NONE
            disk.crash()
        monkeypatch.undo()
        async with living_broker(disk, **FEW) as broker:
            await until_committed(broker, 7)

    asyncio.run(run())


def test_first_protocol_must_add_the_group_before_it_commits_its_offsets() -> None:
    async def story(broker: Broker, client: Client) -> None:
        await find_group(broker, "g")
        producer = Producer(client)
        assert await producer.init() == ErrorCode.NONE
        assert await producer.commit_offset("g", 7) == ErrorCode.INVALID_TXN_STATE
        assert await producer.commit_offset("g", 7, version=4) == ErrorCode.TRANSACTION_ABORTABLE
        assert await committed(broker, "g") == -1

    tell(story)


def test_first_offsets_of_all_have_their_topic_made_before_they_are_in_a_transaction() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = Producer(client)
        assert await producer.init() == ErrorCode.NONE
        assert await producer.add_offsets("g") == ErrorCode.NONE
        assert "__consumer_offsets" in broker.image.topics
        assert await producer.commit_offset("g", 7) == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await until_committed(broker, 7)
        assert await stable_code(client) == ErrorCode.NONE

    tell(story)


def test_offsets_are_not_in_a_transaction_while_their_topic_is_unknown_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def made_elsewhere(self: Coordinator) -> None:
        """It is there, and the news are on their way."""

    async def story(broker: Broker, client: Client) -> None:
        producer = Producer(client)
        assert await producer.init() == ErrorCode.NONE
        with monkeypatch.context() as patched:
            patched.setattr(Coordinator, "ensure_topic", made_elsewhere)
            assert await producer.add_offsets("g") == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert (await state_of(client)).transaction_state == "Empty"
        assert await producer.add_offsets("g") == ErrorCode.NONE

    tell(story)


def test_offsets_are_not_in_a_transaction_when_their_topic_cannot_be_made() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = Producer(client)
        assert await producer.init() == ErrorCode.NONE
        await make_topic(broker, "__consumer.offsets")  # Its name in metrics collides.
        assert await producer.add_offsets("g") == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert (await state_of(client)).transaction_state == "Empty"

    tell(story)


@pytest.mark.parametrize("is_verified", ["true", "false"])
def test_offsets_of_no_producer_are_refused(is_verified: str) -> None:
    """Written without one they would count at once."""

    async def story(broker: Broker, client: Client) -> None:
        await find_group(broker, "g")
        assert await Producer(client).commit_offset("g", 7) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert await committed(broker, "g") == -1

    tell(story, **{"transaction.partition.verification.enable": is_verified})


def test_offsets_of_a_fenced_producer_are_refused_also_where_nobody_verifies() -> None:
    async def story(broker: Broker, client: Client) -> None:
        zombie = await holding_offsets(broker, client, is_second=False)
        await holding_offsets(broker, client, is_second=False)
        assert await zombie.commit_offset("g", 9) == ErrorCode.INVALID_PRODUCER_EPOCH

    tell(story, **{"transaction.partition.verification.enable": "false"})


@PROTOCOLS
def test_zombie_cannot_commit_offsets(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        zombie = await holding_offsets(broker, client, is_second=is_second)
        async with connected(broker) as other:
            successor = await holding_offsets(broker, other, is_second=is_second, offset=11)
            assert await zombie.commit_offset("g", 9) == ErrorCode.INVALID_PRODUCER_EPOCH
            assert await successor.end() == ErrorCode.NONE
            await until_committed(broker, 11)

    tell(story)


def test_offsets_written_while_the_transaction_ended_are_kept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else they would open a transaction in the log that nobody ends, and the offset were never stable."""

    async def story(broker: Broker, client: Client) -> None:
        await find_group(broker, "g")
        producer = Producer(client)
        assert await producer.init() == ErrorCode.NONE
        assert await producer.add_offsets("g") == ErrorCode.NONE
        word_on = broker.transactions.word_on

        async def late(question: Any, partitions: Any) -> Any:
            words = await word_on(question, partitions)
            async with connected(broker) as other:
                twin = Producer(other)
                twin.producer_id, twin.epoch = producer.producer_id, producer.epoch
                assert await twin.end() == ErrorCode.NONE
                async with asyncio.timeout(10):
                    while len(broker.transactions.orders):
                        await asyncio.sleep(0.002)
            return words

        monkeypatch.setattr(broker.transactions, "word_on", late)
        assert await producer.commit_offset("g", 7) == ErrorCode.INVALID_TXN_STATE
        assert await stable_code(client) == ErrorCode.NONE

    tell(story)
