"""What groups and transactions are kept in is not for administrators to cut off or to spread anew."""

import asyncio

from tests.broker.coordination.living_broker import (
    ask,
    commit,
    committed,
    find_group,
    living_broker,
    make_topic,
    new_disk,
)

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.model.names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)


async def delete_all(broker: Broker, topic: str) -> set[int]:
    """Delete whatever a topic holds; returns the error codes."""
    partitions = tuple(
        DeleteRecordsPartition(partition_index=each, offset=-1)
        for each in range(len(broker.image.topics[topic].partitions))
    )
    request = DeleteRecordsRequest(
        topics=(DeleteRecordsTopic(name=topic, partitions=partitions),), timeout_ms=5_000
    )
    (deleted,) = (await ask(broker, request, 2)).topics
    return {each.error_code for each in deleted.partitions}


async def grow(broker: Broker, topic: str) -> int:
    """Have one partition more; returns the error code."""
    wanted = CreatePartitionsTopic(name=topic, count=len(broker.image.topics[topic].partitions) + 1)
    (grown,) = (await ask(broker, CreatePartitionsRequest(topics=(wanted,)), 3)).results
    return int(grown.error_code)


def test_records_of_coordinators_cannot_be_deleted() -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            await find_group(broker, "g")
            await broker.transactions.ensure_topic()
            assert await commit(broker, "g", 42) == ErrorCode.NONE
            begins_at = broker.groups.host_for("g").partition.log.log_start_offset
            for topic in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC):
                assert await delete_all(broker, topic) == {ErrorCode.INVALID_TOPIC_EXCEPTION}
            assert broker.groups.host_for("g").partition.log.log_start_offset == begins_at
            assert await delete_all(broker, "orders") == {ErrorCode.NONE}

    asyncio.run(run())


def test_topics_of_coordinators_do_not_grow_so_that_offsets_are_found_where_they_are() -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            names = [f"group {number}" for number in range(8)]
            await find_group(broker, *names)
            await broker.transactions.ensure_topic()
            for name in names:
                assert await commit(broker, name, 42) == ErrorCode.NONE
            for topic in (OFFSETS_TOPIC, TRANSACTIONS_TOPIC):
                assert await grow(broker, topic) == ErrorCode.INVALID_PARTITIONS
            assert [await committed(broker, name) for name in names] == [42] * len(names)
            assert await grow(broker, "orders") == ErrorCode.NONE

    asyncio.run(run())
