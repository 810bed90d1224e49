"""What a broker says of its disk."""

import asyncio

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk

from penstock.broker.broker_disk import UNREADABLE_SECONDS
from penstock.model.errors import InvariantError, StorageError


def test_place_that_cannot_be_read_is_reported_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            partition = broker.replicas.by_name("orders", 0)
            for reason in ("too many open files", "input/output error", "too many open files"):
                broker.report_unreadable(partition, StorageError(reason))
            partition.unreadable_told_at -= UNREADABLE_SECONDS
            broker.report_unreadable(partition, StorageError("input/output error"))

    asyncio.run(run())
    told = [record for record in caplog.records if record.message == "cannot read from disk"]
    assert [record.__dict__["reason"] for record in told] == ["too many open files", "input/output error"]


def test_error_of_the_disk_that_a_duty_did_not_expect_is_a_bug_and_no_failed_flush() -> None:
    async def fail() -> None:
        raise StorageError("too many open files")

    async def run() -> list[Exception]:
        async with living_broker(new_disk()) as broker:
            failures: list[Exception] = []
            broker.fail = failures.append
            broker.tasks.start_duty(fail(), name="look around")
            for _ in range(5):
                await asyncio.sleep(0)
            return failures

    (bug,) = asyncio.run(run())
    assert isinstance(bug, InvariantError)
    assert "too many open files" in str(bug)
