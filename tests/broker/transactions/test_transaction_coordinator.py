"""The coordinator in a living broker: zombies, timeouts, restarts, and markers that always arrive."""

import asyncio
from typing import Any

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk
from tests.broker.transactions.producer_client import Client, Producer, connected, read
from tests.broker.transactions.stories import FEW, PROTOCOLS, begun, settle, state_of, tell, until_state

from penstock.broker.broker import Broker
from penstock.broker.transaction_markers import write_marker
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.list_transactions import ListTransactionsRequest


@PROTOCOLS
def test_zombie_is_fenced_and_what_it_left_open_is_aborted(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        zombie = await begun(client, is_second=is_second)
        assert await zombie.produce(b"left behind") == ErrorCode.NONE
        async with connected(broker) as other:
            successor = await begun(other, is_second=is_second)
            assert successor.producer_id == zombie.producer_id
            assert successor.epoch > zombie.epoch
            assert await zombie.produce(b"from the grave") == ErrorCode.INVALID_PRODUCER_EPOCH
            assert await zombie.end() == ErrorCode.PRODUCER_FENCED
            assert await successor.produce(b"alive") == ErrorCode.NONE
            assert await successor.end() == ErrorCode.NONE
            await settle(other, 4)
            assert (await read(other)).values == [b"alive"]

    tell(story)


@pytest.mark.parametrize(("version", "expected"), [(1, 47), (2, 90)])
def test_fenced_producer_is_told_in_words_that_it_knows(version: int, expected: int) -> None:
    async def story(broker: Broker, client: Client) -> None:
        zombie = await begun(client)
        await begun(client)
        assert await zombie.end(version=version) == expected

    tell(story)


@PROTOCOLS
def test_transaction_that_is_open_too_long_is_aborted_and_its_producer_fenced(is_second: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, is_second=is_second, timeout_ms=150)
        assert await producer.produce(b"too slow") == ErrorCode.NONE
        await settle(client, 2)
        assert (await read(client)).values == []
        assert await producer.produce(b"x") == ErrorCode.INVALID_PRODUCER_EPOCH
        assert await producer.init(keeps_identity=True) == ErrorCode.NONE

    tell(story)


def test_timeout_longer_than_allowed_is_refused() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = Producer(client)
        assert await producer.init(timeout_ms=1001) == ErrorCode.INVALID_TRANSACTION_TIMEOUT
        assert await producer.init(timeout_ms=1000) == ErrorCode.NONE

    tell(story, **{"transaction.max.timeout.ms": "1000"})


def test_empty_transactional_id_is_no_name() -> None:
    async def story(broker: Broker, client: Client) -> None:
        await begun(client)
        assert await Producer(client, "").init() == ErrorCode.INVALID_REQUEST

    tell(story)


def test_producer_without_transactional_id_needs_no_coordinator() -> None:
    async def story(broker: Broker, client: Client) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)
        first, second = await client.ask(request), await client.ask(request)
        assert (first.error_code, first.producer_epoch) == (ErrorCode.NONE, 0)
        assert second.producer_id != first.producer_id
        assert "__transaction_state" not in broker.image.topics

    tell(story)


@pytest.mark.parametrize("transactional_id", [None, "t"])
def test_producer_is_told_to_come_back_while_no_id_is_to_be_had(
    transactional_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        async def nothing() -> range:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)

        monkeypatch.setattr(broker.producer_ids, "_allocate", nothing)
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000)
        assert (await client.ask(request)).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    tell(story)


def test_request_before_anybody_looked_for_the_coordinator_is_not_coordinator() -> None:
    async def story(broker: Broker, client: Client) -> None:
        request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000)
        assert (await client.ask(request)).error_code == ErrorCode.NOT_COORDINATOR

    tell(story)


def test_idle_transactional_id_is_forgotten() -> None:
    async def story(broker: Broker, client: Client) -> None:
        assert await Producer(client).init() == ErrorCode.NONE
        async with asyncio.timeout(10):
            while (await state_of(client)).error_code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                await asyncio.sleep(0.01)

    tell(story, **{"transactional.id.expiration.ms": "100"})


@PROTOCOLS
@pytest.mark.parametrize("is_crash", [False, True], ids=["stopped", "crashed"])
def test_open_transaction_survives_a_restart_and_can_be_committed(is_second: bool, is_crash: bool) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await begun(client, is_second=is_second)
            assert await producer.produce(b"before") == ErrorCode.NONE
            if is_crash:
                disk.crash()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            producer.client = client
            found = await read(client)
            assert (found.values, found.last_stable_offset) == ([], 0)
            assert await producer.produce(b"after") == ErrorCode.NONE
            assert await ended_once_loaded(producer) == ErrorCode.NONE
            await settle(client, 3)
            assert (await read(client)).values == [b"before", b"after"]

    asyncio.run(run())


@PROTOCOLS
@pytest.mark.parametrize("is_commit", [False, True], ids=["abort", "commit"])
@pytest.mark.parametrize("loses_power", [False, True], ids=["killed", "power lost"])
def test_decision_outlives_a_crash_before_its_markers(
    is_second: bool, is_commit: bool, loses_power: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            monkeypatch.setattr("penstock.broker.transaction_orders.write_marker", never)
            producer = await begun(client, is_second=is_second)
            assert await producer.produce(b"decided") == ErrorCode.NONE
            assert await producer.end(is_commit=is_commit) == ErrorCode.NONE
            crash(disk, loses_power=loses_power)
        monkeypatch.undo()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await settle(client, 2)
            assert (await read(client)).values == ([b"decided"] if is_commit else [])
            await until_state(client, "CompleteCommit" if is_commit else "CompleteAbort")
            assert await Producer(client).init() == ErrorCode.NONE

    asyncio.run(run())


def never(broker: Broker, *_: Any, **__: Any) -> "asyncio.Future[ErrorCode]":
    """A partition that does not get round to writing its marker."""
    return broker.loop.create_future()


def crash(disk: MemoryFileSystem, *, loses_power: bool) -> None:
    if loses_power:
        disk.power_loss()
    else:
        disk.crash()


async def ended_once_loaded(producer: Producer) -> int:
    async with asyncio.timeout(10):
        while True:
            code = await producer.end()
            if code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return code
            await asyncio.sleep(0.005)


def test_markers_are_tried_until_every_partition_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(broker: Broker, client: Client) -> None:
        refusals = [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]

        def unwilling(broker: Broker, name: Any, *rest: Any, **more: Any) -> "asyncio.Future[ErrorCode]":
            if name.partition == 0 and refusals:
                refused: asyncio.Future[ErrorCode] = broker.loop.create_future()
                refused.set_result(refusals.pop())
                return refused
            return write_marker(broker, name, *rest, **more)

        monkeypatch.setattr("penstock.broker.transaction_orders.write_marker", unwilling)
        producer = await begun(client, is_second=True)
        for partition in (0, 1):
            assert await producer.produce(b"x", partition=partition) == ErrorCode.NONE
        assert await producer.end() == ErrorCode.NONE
        await until_state(client, "CompleteCommit")
        assert not refusals
        for partition in (0, 1):
            assert (await read(client, partition=partition)).markers == [1]

    tell(story)


@pytest.mark.slow
@PROTOCOLS
def test_full_disk_puts_the_end_of_a_transaction_off(is_second: bool) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await begun(client, is_second=is_second)
            assert await producer.produce(b"x") == ErrorCode.NONE
            room, disk.capacity_bytes = disk.capacity_bytes, 0
            assert await producer.end() == ErrorCode.NOT_COORDINATOR
            assert (await read(client)).values == []
            disk.capacity_bytes = room
            async with asyncio.timeout(10):
                while await producer.end() != ErrorCode.NONE:
                    await asyncio.sleep(0.01)
            await settle(client, 2)
            assert (await read(client)).values == [b"x"]

    asyncio.run(run())


@pytest.mark.slow
@PROTOCOLS
def test_full_disk_puts_markers_off(is_second: bool) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await begun(client, is_second=is_second)
            assert await producer.produce(b"x") == ErrorCode.NONE
            room = disk.capacity_bytes
            carry_out = broker.transactions.orders.carry_out

            def fill_disk_first(host: Any, order: Any) -> None:
                if not filled:
                    filled.append(True)
                    disk.capacity_bytes = 0
                carry_out(host, order)

            filled: list[bool] = []
            object.__setattr__(broker.transactions.kind, "carry_out", fill_disk_first)
            assert await producer.end() == ErrorCode.NONE
            await asyncio.sleep(0.1)
            assert (await state_of(client)).transaction_state in ("PrepareCommit", "")
            disk.capacity_bytes = room
            await settle(client, 2)
            assert (await read(client)).values == [b"x"]
            await until_state(client, "CompleteCommit")

    asyncio.run(run())


def test_transaction_on_a_topic_that_is_gone_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(broker: Broker, client: Client) -> None:
        await make_topic(broker, "doomed")
        producer = await begun(client)
        assert await producer.add("doomed", 0, 1) == ErrorCode.NONE
        assert await producer.produce(b"x") == ErrorCode.NONE
        await client.ask(DeleteTopicsRequest(topics=(DeleteTopicState(name="doomed"),), timeout_ms=5000))
        assert await producer.end() == ErrorCode.NONE
        await until_state(client, "CompleteCommit")
        assert (await read(client)).values == [b"x"]

    tell(story)


def test_topic_that_goes_while_its_marker_is_missing_is_waited_for_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        monkeypatch.setattr("penstock.broker.transaction_orders.write_marker", never)
        producer = await begun(client)
        assert await producer.end() == ErrorCode.NONE
        described = await state_of(client)
        assert described.transaction_state == "PrepareCommit"
        assert [(each.topic, each.partitions) for each in described.topics] == [("orders", (0,))]
        await client.ask(DeleteTopicsRequest(topics=(DeleteTopicState(name="orders"),), timeout_ms=5000))
        await until_state(client, "CompleteCommit")

    tell(story)


def test_adding_is_all_or_nothing() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = Producer(client)
        assert await producer.init() == ErrorCode.NONE
        assert await producer.add("orders", 0, 7) == ErrorCode.OPERATION_NOT_ATTEMPTED
        assert await producer.add("orders", 7) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await producer.add("nowhere", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await producer.add("__transaction_state", 0) == ErrorCode.TOPIC_AUTHORIZATION_FAILED
        assert (await state_of(client)).transaction_state == "Empty"

    tell(story)


def test_leaders_ask_about_many_transactions_at_once() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producers = [await begun(client, name) for name in ("a", "b", "c")]
        request = AddPartitionsToTxnRequest(
            transactions=tuple(
                AddPartitionsToTxnTransaction(
                    transactional_id=each.transactional_id,
                    producer_id=each.producer_id,
                    producer_epoch=each.epoch,
                    verify_only=True,
                    topics=(AddPartitionsToTxnTopic(name="orders", partitions=(0, 1)),),
                )
                for each in [*producers, producers[0]]
            )
        )
        response = await client.ask(request, 5)
        assert [each.transactional_id for each in response.results_by_transaction] == ["a", "b", "c", "a"]
        for result in response.results_by_transaction:
            codes = [each.partition_error_code for each in result.topic_results[0].results_by_partition]
            assert codes == [ErrorCode.NONE, ErrorCode.TRANSACTION_ABORTABLE]

    tell(story)


def test_listing_joins_all_shards_and_passes_filters_on() -> None:
    async def story(broker: Broker, client: Client) -> None:
        for name in ("pay-1", "pay-2", "ship-1"):
            await begun(client, name)
        assert await Producer(client, "pay-3").init() == ErrorCode.NONE
        assert await listed(client) == ["pay-1", "pay-2", "pay-3", "ship-1"]
        assert await listed(client, state_filters=("Ongoing",)) == ["pay-1", "pay-2", "ship-1"]
        assert await listed(client, transactional_id_pattern="pay-[12]") == ["pay-1", "pay-2"]
        assert await listed(client, duration_filter=60_000) == ["pay-3"]
        unknown = await client.ask(ListTransactionsRequest(state_filters=("Asleep",)))
        assert (unknown.unknown_state_filters, unknown.transaction_states) == (("Asleep",), ())

    tell(story)


async def listed(client: Client, **filters: Any) -> list[str]:
    response = await client.ask(ListTransactionsRequest(**filters))
    assert response.error_code == ErrorCode.NONE
    return sorted(each.transactional_id for each in response.transaction_states)


@pytest.mark.parametrize("has_shards", [False, True])
def test_listing_by_a_pattern_that_is_none_is_refused(has_shards: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        if has_shards:
            await begun(client)
        response = await client.ask(ListTransactionsRequest(transactional_id_pattern="("))
        assert response.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION

    tell(story)


def test_describing_tells_the_whole_transaction() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client, timeout_ms=30_000)
        described = await state_of(client)
        assert described.transaction_state == "Ongoing"
        assert (described.producer_id, described.producer_epoch) == (producer.producer_id, producer.epoch)
        assert described.transaction_timeout_ms == 30_000
        assert described.transaction_start_time_ms > 0
        assert [(each.topic, each.partitions) for each in described.topics] == [("orders", (0,))]
        names = ("stranger", "t", "", "another", "t")
        response = await client.ask(DescribeTransactionsRequest(transactional_ids=names))
        assert [(each.transactional_id, each.error_code) for each in response.transaction_states] == [
            ("stranger", ErrorCode.TRANSACTIONAL_ID_NOT_FOUND),
            ("t", ErrorCode.NONE),
            ("", ErrorCode.INVALID_REQUEST),
            ("another", ErrorCode.TRANSACTIONAL_ID_NOT_FOUND),
            ("t", ErrorCode.NONE),
        ]

    tell(story)
