"""The upkeep of single logs, and what may happen to their topics meanwhile."""

import asyncio
from typing import Any

import pytest
from tests.broker.coordination.living_broker import living_broker, new_disk
from tests.broker.short_lived import (
    DIRECTORY,
    append,
    before_first,
    delete_topic,
    files,
    fill_and_roll,
    make_again,
    make_short_lived,
)

from penstock.broker import housekeeping
from penstock.broker.broker import Broker
from penstock.broker.partition import Partition
from penstock.model.errors import DiskFullError, StorageError
from penstock.storage import directory_jobs
from penstock.storage.checkpoint_job import CheckpointJob
from penstock.storage.deletion_job import DeletionJob
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.rewind_job import RewindJob


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker's own housekeeping never has its turn."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 3_600.0)


class Replacement:
    """A topic of the same name that comes while a job has the files of the former one in its hands."""

    def __init__(self, broker: Broker, former: Partition, monkeypatch: pytest.MonkeyPatch) -> None:
        self._broker = broker
        self._ended: asyncio.Task[None] | None = None
        self._has_to_wait = asyncio.Event()
        wait_idle = broker.upkeep.wait_idle

        async def tell_and_wait(logs: Any) -> None:
            if former.log in logs:
                self._has_to_wait.set()
            await wait_idle(logs)

        monkeypatch.setattr(broker.upkeep, "wait_idle", tell_and_wait)

    async def begin(self) -> None:
        """Go as far as it can: to its end, unless the job is waited for."""
        self._has_to_wait.clear()
        self._ended = asyncio.create_task(make_again(self._broker))
        waiting = asyncio.create_task(self._has_to_wait.wait())
        await asyncio.wait((self._ended, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def end(self) -> None:
        assert self._ended is not None
        await self._ended


def check_acknowledged_is_there(broker: Broker, disk: MemoryFileSystem) -> None:
    """The new topic's record, its segments, and nothing of what the former one had."""
    log = broker.replicas.by_name("orders", 0).log
    assert (log.log_start_offset, log.flushed_offset) == (0, 1)
    assert disk.size(f"{DIRECTORY}/{0:020d}.log") == log.size_bytes > 0
    names = disk.list_directory(DIRECTORY)
    assert [name for name in names if ".log" in name] == [f"{offset:020d}.log" for offset in (0, 1)]


def test_partition_whose_topic_was_made_again_expires_nothing() -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await fill_and_roll(broker, former)
            await make_again(broker)
            before = files(disk)
            await broker.upkeep.expire(former)
            await broker.flusher.drain()
            assert former.expire(broker.clock.wall_ms()) is None
            assert files(disk) == before
            check_acknowledged_is_there(broker, disk)

    asyncio.run(run())


def test_log_whose_topic_is_gone_is_not_rolled() -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            former = await make_short_lived(broker)
            await append(broker, former)
            await delete_topic(broker)
            await broker.upkeep.expire(former)
            assert not former.log.awaits_segment

    asyncio.run(run())


@pytest.mark.parametrize("kind", [directory_jobs.CheckpointJob, DeletionJob])
def test_topic_made_again_during_an_expiry_keeps_its_files(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await fill_and_roll(broker, former)
            replacement = Replacement(broker, former, monkeypatch)
            before_first(monkeypatch, broker, kind, replacement.begin)
            await broker.upkeep.expire(former)
            await replacement.end()
            check_acknowledged_is_there(broker, disk)

    asyncio.run(run())


def test_topic_made_again_while_derived_files_are_written_gets_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await append(broker, former)
            replacement = Replacement(broker, former, monkeypatch)
            before_first(monkeypatch, broker, CheckpointJob, replacement.begin)
            await broker.upkeep.write_derived_files(former.log)
            await replacement.end()
            assert "leader-epoch-checkpoint" not in disk.list_directory(DIRECTORY)

    asyncio.run(run())


def test_log_whose_topic_is_gone_writes_no_derived_files() -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await append(broker, former)
            await make_again(broker)
            await broker.upkeep.write_derived_files(former.log)
            assert "leader-epoch-checkpoint" not in disk.list_directory(DIRECTORY)

    asyncio.run(run())


async def lose_a_write(broker: Broker, disk: MemoryFileSystem, partition: Partition) -> None:
    """Leave the log behind a write for which there was no room, with a segment that never was."""
    await append(broker, partition)
    capacity, disk.capacity_bytes = disk.capacity_bytes, disk.used_bytes
    await broker.upkeep.expire(partition)
    await broker.flusher.drain()
    disk.capacity_bytes = capacity
    assert partition.log.needs_rewind


def test_topic_made_again_while_its_log_is_brought_back_keeps_its_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await lose_a_write(broker, disk, former)
            replacement = Replacement(broker, former, monkeypatch)
            before_first(monkeypatch, broker, RewindJob, replacement.begin)
            await broker.upkeep.rewind(former.log)
            await replacement.end()
            check_acknowledged_is_there(broker, disk)

    asyncio.run(run())


def test_log_whose_topic_is_gone_is_not_brought_back() -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await lose_a_write(broker, disk, former)
            await make_again(broker)
            before = files(disk)
            await broker.upkeep.rewind(former.log)
            assert files(disk) == before

    asyncio.run(run())


@pytest.mark.parametrize("kind", [directory_jobs.CheckpointJob, DeletionJob])
def test_expiry_that_failed_is_finished_by_the_next(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise DiskFullError("no room")

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            partition = await make_short_lived(broker)
            await fill_and_roll(broker, partition)
            with monkeypatch.context() as patched:
                before_first(patched, broker, kind, fail)
                with pytest.raises(DiskFullError):
                    await broker.upkeep.expire(partition)
            assert broker.upkeep.unfinished == [partition]
            assert f"{0:020d}.log" in disk.list_directory(DIRECTORY)
            await broker.upkeep.expire(partition)
            assert broker.upkeep.unfinished == []
            assert f"{0:020d}.log.deleted" in disk.list_directory(DIRECTORY)

    asyncio.run(run())


def test_unfinished_expiry_of_a_topic_that_is_deleted_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail() -> None:
        raise StorageError("the disk does not answer")

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            former = await make_short_lived(broker)
            await fill_and_roll(broker, former)
            with monkeypatch.context() as patched:
                before_first(patched, broker, DeletionJob, fail)
                with pytest.raises(StorageError):
                    await broker.upkeep.expire(former)
            await make_again(broker)
            assert broker.upkeep.unfinished == []
            check_acknowledged_is_there(broker, disk)

    asyncio.run(run())


def test_log_that_begins_anew_keeps_its_first_segment_from_an_unfinished_expiry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It begins at the offset at which a segment began that retention has taken out before."""

    async def fail() -> None:
        raise StorageError("the disk does not answer")

    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            partition = await make_short_lived(broker)
            await fill_and_roll(broker, partition)
            with monkeypatch.context() as patched:
                before_first(patched, broker, DeletionJob, fail)
                with pytest.raises(StorageError):
                    await broker.upkeep.expire(partition)
            broker.replication.change_log(partition, broker.replication.log_changes.restart(partition, 0))
            await broker.replication.release([partition])
            before = files(disk)
            await broker.upkeep.expire(partition)
            assert files(disk) == before
            assert f"{0:020d}.log" in before

    asyncio.run(run())


def test_expiry_is_waited_for_before_a_log_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            partition = await make_short_lived(broker)
            await fill_and_roll(broker, partition)
            changes = broker.replication.log_changes
            seen = asyncio.Event()
            wait_idle = broker.upkeep.wait_idle

            async def tell_and_wait(logs: Any) -> None:
                seen.set()
                await wait_idle(logs)

            monkeypatch.setattr(broker.upkeep, "wait_idle", tell_and_wait)

            async def begin_restart() -> None:
                seen.clear()
                broker.replication.change_log(partition, changes.restart(partition, 0))
                await seen.wait()

            before_first(monkeypatch, broker, DeletionJob, begin_restart)
            await broker.upkeep.expire(partition)
            await broker.replication.release([partition])
            assert f"{0:020d}.log" in disk.list_directory(DIRECTORY)
            assert partition.log.log_end_offset == 0

    asyncio.run(run())
