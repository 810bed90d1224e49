"""Markers on a partition that cannot be written."""

import asyncio

from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk

from penstock.broker.transaction_markers import write_marker
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.control import TransactionMarker
from penstock.transactions.version import TransactionVersion


def test_marker_that_found_no_room_is_not_taken_for_written_when_it_comes_again() -> None:
    """What the log knows of its producers includes, until it is rewound, what it could not write."""

    async def scenario() -> list[ErrorCode]:
        disk = new_disk()
        async with living_broker(disk) as broker:
            await make_topic(broker)
            marker = TransactionMarker(is_commit=False, coordinator_epoch=0, producer_id=7, producer_epoch=3)
            capacity, disk.capacity_bytes = disk.capacity_bytes, disk.used_bytes
            codes = []
            for _ in range(2):
                async with asyncio.timeout(10):
                    codes.append(
                        await write_marker(
                            broker, TopicPartition("orders", 0), marker, version=TransactionVersion.TV2
                        )
                    )
            disk.capacity_bytes = capacity
            return codes

    assert asyncio.run(scenario()) == [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.KAFKA_STORAGE_ERROR]
