"""Transactions while leadership changes hands: of their coordinator, and of what they write to."""

import asyncio
from typing import Any

import pytest
from tests.broker.coordination.leadership import lose, spread_news, win
from tests.broker.coordination.living_broker import find_group
from tests.broker.transactions.neighbours import NOBODY, ONE, TWO, Neighbour, Neighbourhood
from tests.broker.transactions.neighbours import tell as tell_two
from tests.broker.transactions.producer_client import Client, connected, produce_code, read
from tests.broker.transactions.stories import (
    PROTOCOLS,
    begun,
    settle,
    state_of,
    tell,
    until_state,
    write_marker,
)

from penstock.broker.broker import Broker
from penstock.broker.partition import Partition
from penstock.broker.transaction_coordinator import TransactionCoordinator
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from penstock.wire.messages.list_transactions import ListTransactionsRequest


def coordinating(broker: Broker, name: str = "t") -> Partition:
    """The partition that keeps a transactional id."""
    return broker.transactions.host_for(name).partition


async def until_loaded(client: Client) -> None:
    async with asyncio.timeout(10):
        while (await state_of(client)).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            await asyncio.sleep(0.002)


async def coordinator_epoch_in_log(client: Client) -> int:
    """Of the last marker in partition 0."""
    request = DescribeProducersRequest(topics=(TopicRequest(name="orders", partition_indexes=(0,)),))
    (found,) = (await client.ask(request)).topics[0].partitions[0].active_producers
    return int(found.coordinator_epoch)


@PROTOCOLS
def test_open_transaction_is_committed_by_the_next_coordinator(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        assert await producer.produce(b"x") == ErrorCode.NONE
        partition = coordinating(broker)
        lose(partition)
        spread_news(broker)
        assert await producer.end() == ErrorCode.NOT_COORDINATOR
        assert (await state_of(client)).error_code == ErrorCode.NOT_COORDINATOR
        listed = await client.ask(ListTransactionsRequest())
        assert (listed.error_code, listed.transaction_states) == (ErrorCode.NONE, ())
        win(partition)
        spread_news(broker)
        await until_loaded(client)
        assert await producer.end() == ErrorCode.NONE
        await settle(client, 2)
        assert (await read(client)).values == [b"x"]
        assert await coordinator_epoch_in_log(client) == partition.leader_epoch

    tell(story)


@PROTOCOLS
def test_orders_stop_with_the_coordinator_and_are_repeated_by_the_next_one(is_second: bool) -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with connected(one) as client:
            producer = await begun(client, is_second=is_second)
            assert await producer.produce(b"x") == ErrorCode.NONE
            neighbourhood.place("orders", 0, NOBODY)
            assert await producer.end() == ErrorCode.NONE
            orders = one.transactions.orders
            assert len(orders) == 1
            lose(coordinating(one))
            spread_news(one)
            async with asyncio.timeout(10):
                while len(orders):
                    await asyncio.sleep(0)
            neighbourhood.place("orders", 0, ONE)
            partition = one.replicas.by_name("__transaction_state", 0)
            win(partition)
            spread_news(one)
            await settle(client, 2)
            assert (await read(client)).values == [b"x"]
            assert await coordinator_epoch_in_log(client) == partition.leader_epoch
            await until_state(client, "CompleteCommit")

    tell_two(story)


def test_marker_that_waits_behind_another_is_never_sent_by_a_former_coordinator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with connected(one) as client:
            neighbourhood.place("orders", 0, TWO)
            asked, may_answer = asyncio.Event(), asyncio.Event()
            ask = one.peers.ask

            async def ask_slowly(*arguments: Any, **choices: Any) -> Any:
                asked.set()
                await may_answer.wait()
                return await ask(*arguments, **choices)

            monkeypatch.setattr(one.peers, "ask", ask_slowly)
            producers = [await begun(client, name) for name in ("a", "b")]
            assert await producers[0].end() == ErrorCode.NONE
            await asked.wait()
            assert await producers[1].end() == ErrorCode.NONE
            lose(coordinating(one))
            spread_news(one)
            may_answer.set()
            async with asyncio.timeout(10):
                while any(task.get_name().startswith("ask node") for task in asyncio.all_tasks()):
                    await asyncio.sleep(0.002)
            assert neighbourhood.asked == [(TWO, "WriteTxnMarkersRequest")]
            async with connected(two) as far:
                assert (await read(far, committed=False)).markers == [0]

    tell_two(story)


def test_marker_for_a_partition_that_was_lost_is_refused() -> None:
    async def story(broker: Broker, client: Client) -> None:
        assert await write_marker(client, 7, 5, transaction_version=2) == [ErrorCode.NONE]
        lose(broker.replicas.by_name("orders", 0))
        refused = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
        assert await write_marker(client, 7, 6, transaction_version=2) == refused
        assert await write_marker(client, 7, 5, transaction_version=2) == refused, "it is there already"

    tell(story)


def test_marker_for_a_group_s_partition_waits_until_its_groups_are_loaded() -> None:
    async def story(broker: Broker, client: Client) -> None:
        await find_group(broker, "g")
        partition = broker.groups.host_for("g").partition
        indexes = (partition.index,)
        assert await write_marker(client, 7, 5, topic=partition.topic, partitions=indexes) == [0]
        win(partition)
        spread_news(broker)
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert await write_marker(client, 7, 5, topic=partition.topic, partitions=indexes) == [code]
        async with asyncio.timeout(10):
            while code in await write_marker(client, 7, 5, topic=partition.topic, partitions=indexes):
                await asyncio.sleep(0.002)

    tell(story)


def test_marker_that_is_not_committed_in_time_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.broker.apis.write_txn_markers.COMMIT_SECONDS_MAX", 0.05)

    async def story(broker: Broker, client: Client) -> None:
        win(broker.replicas.by_name("orders", 0), with_other=True)
        codes = await write_marker(client, 7, 5, partitions=(0, 1))
        assert codes == [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE]

    tell(story)


@PROTOCOLS
def test_batches_that_wait_for_the_coordinator_are_refused_when_their_partition_is_lost(
    is_second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        partition = broker.replicas.by_name("orders", 0)
        word_on, may_answer = TransactionCoordinator.word_on, asyncio.Event()

        async def word_later(self: TransactionCoordinator, *arguments: Any) -> Any:
            word = await word_on(self, *arguments)
            await may_answer.wait()
            return word

        monkeypatch.setattr(TransactionCoordinator, "word_on", word_later)
        for value in (b"one", b"two"):
            producer.send(producer.batch(value))
        async with asyncio.timeout(10):
            while partition.verifications is None or not partition.verifications.queues:
                await asyncio.sleep(0.002)
        lose(partition)
        spread_news(broker)
        for _ in range(2):
            assert produce_code(await client.receive()) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        win(partition)
        producer.sequences.clear()
        producer.send(producer.batch(b"again"))
        may_answer.set()
        assert produce_code(await client.receive()) == ErrorCode.NONE
        assert (await read(client, committed=False)).values == [b"again"], "the old word opens nothing"

    tell(story)


@PROTOCOLS
def test_word_that_comes_after_leadership_was_lost_and_won_again_lets_nothing_in(
    is_second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second)
        partition = broker.replicas.by_name("orders", 0)
        word_on = TransactionCoordinator.word_on

        async def word_late(self: TransactionCoordinator, *arguments: Any) -> Any:
            word = await word_on(self, *arguments)
            win(partition)
            return word

        monkeypatch.setattr(TransactionCoordinator, "word_on", word_late)
        assert await producer.produce(b"x") == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert (await read(client, committed=False)).high_watermark == 0

    tell(story)


@PROTOCOLS
def test_offsets_verified_for_a_former_term_of_the_group_are_not_written(
    is_second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        await find_group(broker, "g")
        producer = await begun(client, is_second=is_second)
        if not is_second:
            assert await producer.add_offsets("g") == ErrorCode.NONE
        partition = broker.groups.host_for("g").partition
        word_on = TransactionCoordinator.word_on

        async def word_late(self: TransactionCoordinator, *arguments: Any) -> Any:
            word = await word_on(self, *arguments)
            win(partition)
            return word

        with monkeypatch.context() as patched:
            patched.setattr(TransactionCoordinator, "word_on", word_late)
            assert await producer.commit_offset("g", 7) == ErrorCode.NOT_COORDINATOR
        spread_news(broker)
        assert await producer.commit_offset("g", 7) == ErrorCode.NONE

    tell(story)
