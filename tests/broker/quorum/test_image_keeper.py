"""Committed entries in order: those of this process at once, those from before piece by piece."""

import asyncio
from random import Random
from typing import Any, cast

import pytest

from penstock.broker.quorum import image_keeper
from penstock.broker.quorum.image_keeper import ImageKeeper
from penstock.broker.quorum.metadata_log import METADATA_LOG, METADATA_PARTITION
from penstock.broker.quorum.surroundings import QuorumSurroundings
from penstock.broker.tasks import Tasks
from penstock.broker.worker_threads import WorkerThreads
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord, encode_record
from penstock.model.errors import InvariantError, StorageError
from penstock.raft.entry import Entry, EntryKind
from penstock.records.batch import read_header, stamp
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.log import Log
from penstock.storage.memory_filesystem import MemoryFileSystem


def batch_of(offset: int, name: str) -> bytearray:
    value = encode_record(FeatureLevelRecord(name=name, feature_level=1))
    batch = build_batch([NewRecord(value=value, timestamp=offset)])
    stamp(batch, offset, 1)
    return batch


def entry_of(offset: int, name: str) -> Entry:
    return Entry(offset=offset, end_offset=offset + 1, term=1, payload=batch_of(offset, name))


class Kept:
    """A keeper on a log of some entries, and what it told."""

    def __init__(self, backlog: str = "", *, applied_offset: int = 0) -> None:
        loop = asyncio.get_running_loop()
        disk = MemoryFileSystem(Random(1))
        disk.make_directory("/data")
        self.log = Log.create(disk, "/data/metadata", METADATA_PARTITION, METADATA_LOG)
        for offset, name in enumerate(backlog):
            batch = batch_of(offset, name)
            self.log.append_as_follower(batch, read_header(batch))
        self.log.flush()
        self.images: list[str] = []
        self.applied: list[int] = []
        self.failures: list[StorageError] = []
        self.tasks = Tasks(loop)
        self.workers = WorkerThreads(loop)
        self.keeper = ImageKeeper(
            self.log,
            image=ClusterImage(),
            applied_offset=applied_offset,
            around=cast(QuorumSurroundings, self),
            on_change=lambda before, image: self.images.append("".join(sorted(image.features))),
            on_applied=lambda entries: self.applied.extend(entry.end_offset for entry in entries),
        )

    async def until_applied(self, offset: int) -> None:
        async with asyncio.timeout(10):
            while self.keeper.applied_offset < offset:
                await asyncio.sleep(0.001)

    def fail(self, error: StorageError) -> None:
        self.failures.append(error)

    def close(self) -> None:
        self.workers.stop()
        assert not self.failures


def run(scenario: Any) -> None:
    asyncio.run(scenario())


def test_entries_are_applied_when_they_are_committed_and_not_before() -> None:
    async def scenario() -> None:
        kept = Kept()
        kept.keeper.appended([entry_of(0, "a"), entry_of(1, "b"), entry_of(2, "c")])
        assert kept.images == []
        kept.keeper.committed(2)
        assert (kept.images, kept.applied, kept.keeper.applied_offset) == (["ab"], [1, 2], 2)
        kept.keeper.committed(3)
        kept.keeper.committed(3)
        assert kept.images == ["ab", "abc"]
        assert kept.keeper.last_timestamp == 2
        kept.close()

    run(scenario)


def test_entry_of_the_machine_itself_moves_the_offset_and_no_image() -> None:
    async def scenario() -> None:
        kept = Kept()
        leader = Entry(offset=0, end_offset=1, term=1, payload=batch_of(0, "x"), kind=EntryKind.LEADER_CHANGE)
        kept.keeper.appended([leader])
        kept.keeper.committed(1)
        assert (kept.images, kept.applied) == ([], [1])
        kept.close()

    run(scenario)


def test_entries_that_were_cut_off_are_never_applied() -> None:
    async def scenario() -> None:
        kept = Kept()
        kept.keeper.appended([entry_of(0, "a"), entry_of(1, "b")])
        kept.keeper.truncated(1)
        kept.keeper.appended([entry_of(1, "c")])
        kept.keeper.committed(2)
        assert kept.images == ["ac"]
        with pytest.raises(InvariantError):
            kept.keeper.truncated(1)
        kept.close()

    run(scenario)


def test_backlog_is_applied_before_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_keeper, "BACKLOG_BYTES", 1)

    async def scenario() -> None:
        kept = Kept("abcd")
        kept.keeper.appended([entry_of(4, "e")])
        kept.keeper.committed(2)
        kept.keeper.committed(5)
        assert kept.keeper.has_backlog
        await kept.until_applied(5)
        assert kept.images == ["a", "ab", "abc", "abcd", "abcde"]
        assert kept.applied == [5]
        kept.close()

    run(scenario)


def test_backlog_that_is_not_committed_is_not_applied_and_may_be_cut() -> None:
    async def scenario() -> None:
        kept = Kept("abcd")
        kept.keeper.committed(2)
        await kept.until_applied(2)
        await asyncio.sleep(0.01)
        assert kept.images == ["ab"]
        kept.keeper.truncated(3)
        kept.keeper.appended([entry_of(3, "z")])
        kept.keeper.committed(4)
        await kept.until_applied(4)
        assert kept.images[-1] == "abcz"
        kept.close()

    run(scenario)


@pytest.mark.parametrize(("keeps_log", "images"), [(True, ["s", "cs"]), (False, ["s"])])
def test_snapshot_replaces_the_image_and_what_it_stands_for(keeps_log: bool, images: list[str]) -> None:
    async def scenario() -> None:
        kept = Kept()
        kept.keeper.appended([entry_of(0, "a"), entry_of(1, "b"), entry_of(2, "c")])
        snapshot = ClusterImage().apply([FeatureLevelRecord(name="s", feature_level=1)])
        kept.keeper.installed(snapshot, 2, keeps_log=keeps_log)
        kept.keeper.committed(3)
        assert kept.images == images
        kept.close()

    run(scenario)


def test_backlog_that_a_snapshot_overtakes_is_forgotten() -> None:
    async def scenario() -> None:
        kept = Kept("abcd")
        is_reading, may_go_on = asyncio.Event(), asyncio.Event()
        call = kept.workers.call

        async def call_slowly(*arguments: Any) -> Any:
            found = await call(*arguments)
            is_reading.set()
            await may_go_on.wait()
            return found

        kept.workers.call = call_slowly  # type: ignore[assignment, method-assign]
        kept.keeper.committed(4)
        await is_reading.wait()
        snapshot = ClusterImage().apply([FeatureLevelRecord(name="s", feature_level=1)])
        kept.keeper.installed(snapshot, 9, keeps_log=False)
        may_go_on.set()
        while len(kept.tasks):
            await asyncio.sleep(0)
        assert kept.images == ["s"]
        assert kept.keeper.applied_offset == 9
        kept.close()

    run(scenario)
