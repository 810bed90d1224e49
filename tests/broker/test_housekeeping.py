"""The duties of housekeeping, of which one that fails must not keep the others from being done."""

import asyncio
import math

import pytest
from tests.broker.coordination.living_broker import living_broker, new_disk
from tests.broker.short_lived import append, before_first, fill_and_roll, make_short_lived

from penstock.broker import housekeeping
from penstock.broker.broker import Broker
from penstock.broker.housekeeping import Housekeeping
from penstock.model.errors import DiskFullError, StorageError
from penstock.storage.checkpoint_job import CheckpointJob
from penstock.storage.deletion_job import DeletionJob
from penstock.storage.log_directory import CHECKPOINT_INTERVAL_BYTES
from penstock.storage.memory_filesystem import MemoryFileSystem


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker's own housekeeping never has its turn."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 3_600.0)


def with_expiry_due(broker: Broker) -> Housekeeping:
    duties = Housekeeping(broker)
    duties._expired_at = -math.inf
    return duties


def refuse_names(disk: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, path_part: str) -> None:
    """The disk renames nothing with this in its path."""
    rename = disk.rename

    def fail_or_rename(source: str, target: str) -> None:
        if path_part in source:
            raise StorageError("too many open files")
        rename(source, target)

    monkeypatch.setattr(disk, "rename", fail_or_rename)


def expired_files(disk: MemoryFileSystem, topic: str) -> list[str]:
    return [name for name in disk.list_directory(f"/data/{topic}-0") if name.endswith(".log.deleted")]


def test_partition_that_cannot_be_expired_does_not_keep_those_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            for name in ("orders", "payments"):
                await fill_and_roll(broker, await make_short_lived(broker, name))
            with monkeypatch.context() as patched:
                refuse_names(disk, patched, "orders-0")
                await with_expiry_due(broker).tick()
            assert not expired_files(disk, "orders")
            assert expired_files(disk, "payments")

    asyncio.run(run())


def test_partition_that_cannot_be_expired_is_tried_with_every_tick_and_reported_once_a_spell(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def told() -> int:
        return sum(record.message == "segments cannot be expired yet" for record in caplog.records)

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            partition = await make_short_lived(broker)
            duties = Housekeeping(broker)
            for spell in (1, 2):
                await fill_and_roll(broker, partition)
                duties._expired_at = -math.inf
                with monkeypatch.context() as patched:
                    refuse_names(disk, patched, "orders-0")
                    for _ in range(3):
                        await duties.tick()
                assert told() == spell
                assert len(expired_files(disk, "orders")) == spell - 1
                await duties.tick()
                assert len(expired_files(disk, "orders")) == spell

    asyncio.run(run())


def test_expiry_that_found_no_room_is_tried_again_with_the_next_tick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail() -> None:
        raise DiskFullError("no room")

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            await fill_and_roll(broker, await make_short_lived(broker))
            duties = with_expiry_due(broker)
            before_first(monkeypatch, broker, DeletionJob, fail)
            await duties.tick()
            assert not expired_files(disk, "orders")
            await duties.tick()
            assert expired_files(disk, "orders")

    asyncio.run(run())


def test_checkpoint_is_written_though_derived_files_found_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise DiskFullError("no room")

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            partition = await make_short_lived(broker)
            await append(broker, partition)
            broker.log_directory.record_flushed(partition.log, CHECKPOINT_INTERVAL_BYTES)
            before_first(monkeypatch, broker, CheckpointJob, fail)
            await Housekeeping(broker).tick()
            assert b"orders 0 1" in disk.read_file("/data/recovery-point-offset-checkpoint")

    asyncio.run(run())
