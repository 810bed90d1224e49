"""What a broker says of its disk."""

import asyncio

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk

from penstock.model.errors import StorageError


def test_place_that_cannot_be_read_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            partition = broker.replicas.by_name("orders", 0)
            for reason in ("too many open files", "too many open files", "input/output error"):
                broker.report_unreadable(partition, StorageError(reason))

    asyncio.run(run())
    told = [record for record in caplog.records if record.message == "cannot read from disk"]
    assert [record.__dict__["reason"] for record in told] == ["too many open files", "input/output error"]
