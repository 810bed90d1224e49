"""WriteTxnMarkers and DescribeProducers: what coordinators send to leaders, and people to what hangs."""

from typing import Any

import pytest
from tests.broker.transactions.producer_client import Client, Producer, read
from tests.broker.transactions.stories import begun, settle, tell, write_marker

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest

NOT_VERIFIED = {"transaction.partition.verification.enable": "false"}


async def producers_of(client: Client, topic: str = "orders", partition: int = 0) -> Any:
    request = DescribeProducersRequest(topics=(TopicRequest(name=topic, partition_indexes=(partition,)),))
    return (await client.ask(request)).topics[0].partitions[0]


async def hanging(client: Client) -> Producer:
    """A producer whose late batch has opened a transaction that its coordinator knows nothing of."""
    producer = await begun(client)
    assert await producer.produce(b"in time") == ErrorCode.NONE
    assert await producer.end() == ErrorCode.NONE
    await settle(client, 2)
    assert await producer.produce(b"late") == ErrorCode.NONE
    return producer


def test_hanging_transaction_is_found_and_aborted() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await hanging(client)
        described = await producers_of(client)
        (found,) = described.active_producers
        assert (found.producer_id, found.producer_epoch) == (producer.producer_id, producer.epoch)
        assert (found.current_txn_start_offset, found.last_sequence) == (2, 1)
        epoch = found.coordinator_epoch
        assert await write_marker(
            client, found.producer_id, found.producer_epoch, coordinator_epoch=epoch
        ) == [0]
        stable = await read(client)
        assert (stable.values, stable.last_stable_offset) == ([b"in time"], 4)
        (found,) = (await producers_of(client)).active_producers
        assert found.current_txn_start_offset == -1

    tell(story, **NOT_VERIFIED)


def test_marker_of_a_former_epoch_or_coordinator_is_refused() -> None:
    async def story(broker: Broker, client: Client) -> None:
        await write_marker(client, 7, 5, coordinator_epoch=3)
        assert await write_marker(client, 7, 4, coordinator_epoch=3) == [ErrorCode.INVALID_PRODUCER_EPOCH]
        assert await write_marker(client, 7, 5, coordinator_epoch=2) == [
            ErrorCode.TRANSACTION_COORDINATOR_FENCED
        ]
        assert (await read(client, committed=False)).markers == [0]

    tell(story)


@pytest.mark.parametrize(("transaction_version", "markers"), [(0, [0, 1]), (2, [0])])
def test_marker_that_comes_twice_is_told_by_its_epoch_in_the_second_protocol_only(
    transaction_version: int, markers: list[int]
) -> None:
    async def story(broker: Broker, client: Client) -> None:
        for _ in range(2):
            assert await write_marker(client, 7, 5, transaction_version=transaction_version) == [
                ErrorCode.NONE
            ]
        assert (await read(client, committed=False)).markers == markers

    tell(story)


def test_every_partition_has_its_own_answer() -> None:
    async def story(broker: Broker, client: Client) -> None:
        codes = await write_marker(client, 7, 5, partitions=(1, 9, 0, 1))
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert codes == [ErrorCode.NONE, unknown, ErrorCode.NONE, ErrorCode.NONE]
        assert (await read(client, partition=1, committed=False)).markers == [0]
        assert await write_marker(client, 7, 5, topic="nowhere") == [unknown]

    tell(story)


@pytest.mark.parametrize(("producer_id", "epoch"), [(-1, 0), (7, -1)])
def test_marker_of_nobody_is_refused(producer_id: int, epoch: int) -> None:
    async def story(broker: Broker, client: Client) -> None:
        assert await write_marker(client, producer_id, epoch) == [ErrorCode.INVALID_REQUEST]
        assert (await read(client, committed=False)).high_watermark == 0

    tell(story)


def test_no_transaction_writes_to_the_coordinator_s_own_topic() -> None:
    async def story(broker: Broker, client: Client) -> None:
        await begun(client)
        codes = await write_marker(client, 7, 5, topic="__transaction_state")
        assert codes == [ErrorCode.INVALID_TOPIC_EXCEPTION]

    tell(story)


def test_marker_fences_batches_of_lower_epochs() -> None:
    async def story(broker: Broker, client: Client) -> None:
        producer = await begun(client)
        assert await write_marker(client, producer.producer_id, producer.epoch + 1) == [ErrorCode.NONE]
        assert await producer.produce(b"x") == ErrorCode.INVALID_PRODUCER_EPOCH

    tell(story)


def test_producers_of_an_unknown_partition_cannot_be_told() -> None:
    async def story(broker: Broker, client: Client) -> None:
        assert (await producers_of(client, "orders", 9)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    tell(story)
