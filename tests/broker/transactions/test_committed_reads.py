"""Readers of committed records see every committed one, once and in order, and no aborted one."""

import asyncio
from random import Random

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk
from tests.broker.transactions.producer_client import (
    Client,
    Producer,
    connected,
    fetch_request,
    read,
    read_through,
    understand,
)
from tests.broker.transactions.stories import FEW, begun, settle, tell

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

STEPS = 120
SMALL_SEGMENTS = {**FEW, "log.segment.bytes": "1024"}


async def mingle(client: Client, random: Random) -> list[bytes]:
    """Producers of both protocols write by turns and end their transactions as they like; what counts."""
    producers = [await begun(client, f"t{number}", is_second=number % 2 == 1) for number in range(4)]
    written: dict[str, list[tuple[int, bytes]]] = {}
    counting: list[tuple[int, bytes]] = []
    for number in range(STEPS):
        producer = random.choice(producers)
        mine = written.setdefault(producer.transactional_id, [])
        if mine and random.random() < 0.3:
            is_commit = random.random() < 0.5
            assert await producer.end(is_commit=is_commit) == ErrorCode.NONE
            counting += mine if is_commit else []
            mine.clear()
            continue
        if not mine and not producer.is_second:
            assert await producer.add() == ErrorCode.NONE
        value = b"%d" % number
        assert await producer.produce(value) == ErrorCode.NONE
        mine.append((number, value))
    await end_all(producers, written)
    return [value for _, value in sorted(counting)]


async def end_all(producers: list[Producer], written: dict[str, list[tuple[int, bytes]]]) -> None:
    for producer in producers:
        if written.get(producer.transactional_id):
            assert await producer.end(is_commit=False) == ErrorCode.NONE


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [FEW, SMALL_SEGMENTS], ids=["one segment", "many segments"])
def test_mingled_transactions_are_read_right_from_memory_and_from_disk(
    seed: int, settings: dict[str, str]
) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **settings) as broker, connected(broker) as client:
            await make_topic(broker)
            expected = await mingle(client, Random(seed))
            assert expected
            await settle(client, (await read(client)).high_watermark)
            for max_bytes in (1, 300, 1 << 20):
                assert (await read_through(client, max_bytes=max_bytes))[0] == expected
        async with living_broker(disk, **settings) as broker, connected(broker) as client:
            for max_bytes in (1, 300, 1 << 20):
                assert (await read_through(client, max_bytes=max_bytes))[0] == expected

    asyncio.run(run())


def test_reader_is_told_only_of_aborted_transactions_in_what_it_gets() -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await begun(client, is_second=True)
            for _ in range(40):
                assert await producer.produce(b"never" * 200) == ErrorCode.NONE
                assert await producer.end(is_commit=False) == ErrorCode.NONE
            await settle(client, 80)
            assert await read_through(client, max_bytes=1200) == ([], 1)
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            values, longest = await read_through(client, max_bytes=9000)
            assert values == []
            assert longest <= 9

    asyncio.run(run())


@pytest.mark.parametrize("is_commit", [False, True])
def test_transaction_whose_beginning_was_deleted_ends_well(is_commit: bool) -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        for value in (b"deleted", b"kept"):
            assert await producer.produce(value) == ErrorCode.NONE
        partition = DeleteRecordsPartition(partition_index=0, offset=1)
        topic = DeleteRecordsTopic(name="orders", partitions=(partition,))
        deleted = await client.ask(DeleteRecordsRequest(topics=(topic,), timeout_ms=5_000))
        assert deleted.topics[0].partitions[0].error_code == ErrorCode.NONE
        open_ = understand(await client.ask(fetch_request(offset=1), 11), 1)
        assert (open_.values, open_.last_stable_offset, open_.high_watermark) == ([], 1, 2)
        assert await producer.end(is_commit=is_commit) == ErrorCode.NONE
        closed = understand(await client.ask(fetch_request(offset=1, wait_ms=5_000), 11), 1)
        assert closed.values == ([b"kept"] if is_commit else [])
        assert closed.last_stable_offset == 3

    tell(story)
