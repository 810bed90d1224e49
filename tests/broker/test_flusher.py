"""Group commit, with a disk in memory and workers that run when told to."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random

import pytest

from penstock.broker.flusher import Flusher
from penstock.model.errors import FlushFailedError, StorageError
from penstock.model.ids import TopicPartition
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.log import FlushJob, Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

Done = Callable[[Sequence[BaseException | None]], None]


class HeldWorkers:
    """Keeps a round until the test lets it run."""

    def __init__(self) -> None:
        self.rounds: list[tuple[Sequence[Callable[[], None]], Done]] = []

    def run(self, calls: Sequence[Callable[[], None]], done: Done) -> None:
        self.rounds.append((calls, done))

    def finish(self) -> None:
        calls, done = self.rounds.pop(0)
        done([_outcome(call) for call in calls])


def _outcome(call: Callable[[], None]) -> BaseException | None:
    try:
        call()
    except StorageError as error:
        return error
    return None


class Owner:
    """A log, and what its owner was told."""

    def __init__(self, disk: MemoryFileSystem, name: str) -> None:
        config = LogConfig(file_delete_delay_ms=0)
        self.log = Log.create(disk, f"/data/{name}-0", TopicPartition(name, 0), config)
        self.told: list[str] = []

    def append(self) -> None:
        batch = build_batch([NewRecord(value=b"x" * 100)])
        self.log.append(batch, read_header(batch), leader_epoch=0, now=1)

    def flush_finished(self, job: FlushJob) -> None:
        self.told.append(f"flushed to {self.log.flushed_offset}")

    def flush_failed(self, error: StorageError) -> None:
        self.told.append("failed")


class Rig:
    def __init__(self) -> None:
        self.disk = MemoryFileSystem(Random(1))
        self.disk.make_directory("/data")
        self.workers = HeldWorkers()
        self.turn: list[Callable[[], None]] = []
        self.fatal: list[StorageError] = []
        self.full = 0
        self.flusher = Flusher(
            self.workers, None, self.turn.append, on_full=self._count_full, on_fatal=self.fatal.append
        )

    def _count_full(self) -> None:
        self.full += 1

    def end_turn(self) -> None:
        turn, self.turn[:] = list(self.turn), []
        for call in turn:
            call()


@pytest.fixture
def rig() -> Rig:
    return Rig()


def append_to(rig: Rig, *owners: Owner) -> None:
    for owner in owners:
        owner.append()
        rig.flusher.mark_dirty(owner)


def test_flusher_appends_of_one_turn_share_a_round(rig: Rig) -> None:
    one, two = Owner(rig.disk, "one"), Owner(rig.disk, "two")
    append_to(rig, one, one, two)
    assert not rig.workers.rounds
    rig.end_turn()
    ((calls, _),) = rig.workers.rounds
    assert len(calls) == 2
    rig.workers.finish()
    assert (one.told, two.told) == (["flushed to 2"], ["flushed to 1"])
    assert rig.flusher.is_idle


def test_flusher_what_arrives_during_a_round_makes_the_next(rig: Rig) -> None:
    owner = Owner(rig.disk, "one")
    append_to(rig, owner)
    rig.end_turn()
    append_to(rig, owner, owner)
    rig.end_turn()
    assert len(rig.workers.rounds) == 1
    rig.workers.finish()
    assert owner.told == ["flushed to 1"]
    rig.end_turn()
    rig.workers.finish()
    assert owner.told == ["flushed to 1", "flushed to 3"]
    assert rig.flusher.rounds == 2


def test_flusher_full_disk_fails_that_log_only(rig: Rig) -> None:
    one, two = Owner(rig.disk, "one"), Owner(rig.disk, "two")
    append_to(rig, one, two)
    rig.end_turn()
    rig.disk.capacity_bytes = rig.disk.usage("/data").total_bytes - rig.disk.usage("/data").free_bytes + 200
    rig.workers.finish()
    assert sorted([one.told[0], two.told[0]]) == ["failed", "flushed to 1"]
    assert rig.full == 1
    assert not rig.fatal


def test_flusher_failed_flush_is_fatal_and_nothing_is_flushed_after_it(rig: Rig) -> None:
    one, two = Owner(rig.disk, "one"), Owner(rig.disk, "two")
    rig.disk.fail_flush("one-0")
    append_to(rig, one, two)
    rig.end_turn()
    rig.workers.finish()
    assert [type(error) for error in rig.fatal] == [FlushFailedError]
    assert one.told == two.told == []
    append_to(rig, two)
    rig.end_turn()
    assert not rig.workers.rounds


def test_flusher_released_owner_is_awaited_and_then_left_alone(rig: Rig) -> None:
    owner = Owner(rig.disk, "one")

    async def scenario() -> None:
        append_to(rig, owner)
        rig.end_turn()
        append_to(rig, owner)
        waiting = asyncio.ensure_future(rig.flusher.release([owner]))
        await asyncio.sleep(0)
        assert not waiting.done()
        rig.workers.finish()
        await waiting
        assert not rig.workers.rounds

    asyncio.run(scenario())


class Stumbling(Owner):
    """Makes a mistake whenever it is told something."""

    def flush_finished(self, job: FlushJob) -> None:
        raise LookupError(f"what is {self.log.flushed_offset}?")


def test_flusher_bug_of_one_owner_is_reported_and_costs_the_others_nothing(rig: Rig) -> None:
    one, two = Stumbling(rig.disk, "one"), Owner(rig.disk, "two")
    append_to(rig, one, two)
    rig.end_turn()
    append_to(rig, two)
    rig.workers.finish()
    assert two.told == ["flushed to 1"]
    reporting, beginning = rig.turn
    with pytest.raises(LookupError, match="what is 1"):
        reporting()
    append_to(rig, one)
    beginning()
    rig.workers.finish()
    assert two.told == ["flushed to 1", "flushed to 2"]
    assert one.log.flushed_offset == 2
    assert not rig.fatal


def test_flusher_job_that_ends_as_none_should_is_reported_and_then_fatal(rig: Rig) -> None:
    one, two = Owner(rig.disk, "one"), Owner(rig.disk, "two")
    append_to(rig, one, two)
    rig.end_turn()
    ((_, done),) = rig.workers.rounds
    done([ValueError("a bug"), None])
    assert one.told == two.told == []
    reporting, ending = rig.turn
    with pytest.raises(ValueError, match="a bug"):
        reporting()
    assert not rig.fatal
    ending()
    assert [type(error) for error in rig.fatal] == [FlushFailedError]
    assert rig.flusher.is_idle


def test_flusher_waiter_that_was_cancelled_keeps_nobody_else_waiting(rig: Rig) -> None:
    owner = Owner(rig.disk, "one")

    async def scenario() -> None:
        append_to(rig, owner)
        rig.end_turn()
        cancelled = asyncio.ensure_future(rig.flusher.release([owner]))
        waiting = asyncio.ensure_future(rig.flusher.drain())
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        rig.workers.finish()
        await waiting

    asyncio.run(scenario())
