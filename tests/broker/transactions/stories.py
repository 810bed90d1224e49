"""How stories about transactions are told: on a living broker, through its socket."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk
from tests.broker.transactions.producer_client import Client, Producer, connected, read

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

Story = Callable[[Broker, Client], Coroutine[Any, Any, None]]

FEW = {"transaction.state.log.num.partitions": "2"}
"""Partitions: fifty logs take a simulated disk a while."""

PROTOCOLS = pytest.mark.parametrize("is_second", [False, True], ids=["first", "second"])


def tell(story: Story, **settings: str) -> None:
    """Run a story on a new broker that has a topic, through one connection."""

    async def run() -> None:
        async with living_broker(new_disk(), **FEW, **settings) as broker, connected(broker) as client:
            await make_topic(broker)
            await story(broker, client)

    asyncio.run(run())


async def begun(
    client: Client, name: str = "t", *, is_second: bool = False, timeout_ms: int = 60_000
) -> Producer:
    """A producer whose transaction has partition 0."""
    producer = Producer(client, name, is_second=is_second)
    assert await producer.init(timeout_ms=timeout_ms) == ErrorCode.NONE
    if not is_second:
        assert await producer.add("orders", 0) == ErrorCode.NONE
    return producer


async def settle(client: Client, end: int, topic: str = "orders", partition: int = 0) -> None:
    """Wait until a partition is stable up to an offset: markers are written after the end is answered."""
    async with asyncio.timeout(10):
        while (await read(client, topic, partition)).last_stable_offset < end:
            await asyncio.sleep(0.002)


async def state_of(client: Client, name: str = "t") -> Any:
    response = await client.ask(DescribeTransactionsRequest(transactional_ids=(name,)))
    return response.transaction_states[0]


async def until_state(client: Client, state: str, name: str = "t") -> None:
    async with asyncio.timeout(10):
        while (await state_of(client, name)).transaction_state != state:
            await asyncio.sleep(0.002)


async def write_marker(
    client: Client,
    producer_id: int,
    epoch: int,
    *,
    topic: str = "orders",
    partitions: tuple[int, ...] = (0,),
    is_commit: bool = False,
    coordinator_epoch: int = 0,
    transaction_version: int = 0,
) -> list[int]:
    """Write a marker; the error codes of the partitions."""
    marker = WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=is_commit,
        topics=(WritableTxnMarkerTopic(name=topic, partition_indexes=partitions),),
        coordinator_epoch=coordinator_epoch,
        transaction_version=transaction_version,
    )
    response = await client.ask(WriteTxnMarkersRequest(markers=(marker,)), 2)
    (answered,) = response.markers
    assert answered.producer_id == producer_id
    return [each.error_code for each in answered.topics[0].partitions]
