"""The cleaner over real logs on a simulated disk, with threads and time left out."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.storage.compaction_testing import append, compacted_config, keyed_batch, offsets_in, roll
from tests.storage.log_testing import make_disk

from penstock.broker.cleaner import Cleaner
from penstock.model.errors import StorageError
from penstock.model.ids import TopicPartition
from penstock.storage.cleanable_part import CleanablePart
from penstock.storage.log import Log
from penstock.storage.memory_filesystem import MemoryFileSystem
from penstock.storage.tail_cache import TailCache

A = b"a"


def on_loop(story: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs on a loop of its own."""

    def test() -> None:
        asyncio.run(story())

    return test


class Clock:
    def wall_ms(self) -> int:
        return 5_000

    def monotonic(self) -> float:
        return 0.0


class Workers:
    """Blocking calls at once; counts them, and may be told to do something in between."""

    def __init__(self) -> None:
        self.on_call: Callable[[], None] = lambda: None

    async def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        self.on_call()
        await asyncio.sleep(0)
        return function(*arguments)


class Room:
    is_low = False


class Directory:
    room = Room()


class Config:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {
            "log.cleaner.enable": True,
            "log.cleaner.backoff.ms": 3_600_000,
            "log.cleaner.dedupe.buffer.size": 1 << 20,
            "log.cleaner.io.max.bytes.per.second": 1e300,
        }

    def boolean(self, name: str) -> bool:
        return bool(self.values[name])

    def integer(self, name: str) -> int:
        return int(self.values[name])

    def number(self, name: str) -> float:
        return float(self.values[name])


class FakePartition:
    is_being_cut = False

    def __init__(self, log: Log) -> None:
        self.log = log

    def __str__(self) -> str:
        return str(self.log.topic_partition)

    @property
    def last_stable_offset(self) -> int:
        return self.log.flushed_offset


class FakeBroker:
    """What the cleaner wants of a broker."""

    def __init__(self) -> None:
        self.disk = make_disk()
        self.clock, self.workers, self.config = Clock(), Workers(), Config()
        self.log_directory = Directory()
        self.replicas: list[FakePartition] = []
        self.failures: list[StorageError] = []
        self.unreadable: list[FakePartition] = []
        self.checkpoints = 0
        self.loop = asyncio.get_running_loop()
        self.tasks = None
        self.cleaner = Cleaner(self)  # type: ignore[arg-type]  # It has what the cleaner uses.

    def add_log(self, topic: str, *, updates: int) -> FakePartition:
        log = Log.create(
            self.disk,
            f"/data/{topic}-0",
            TopicPartition(topic, 0),
            compacted_config(segment_bytes=300),
            tail_cache=TailCache(0),
        )
        append(log, *[keyed_batch((A, b"%d" % number)) for number in range(updates)])
        roll(log)
        self.replicas.append(FakePartition(log))
        return self.replicas[-1]

    def fail(self, error: StorageError) -> None:
        self.failures.append(error)

    def report_unreadable(self, partition: FakePartition, error: StorageError) -> None:
        self.unreadable.append(partition)

    async def checkpoint(self) -> None:
        self.checkpoints += 1

    async def clean_until_idle(self) -> None:
        while await self.cleaner._clean_dirtiest():
            pass


def leftovers(disk: MemoryFileSystem, topic: str) -> list[str]:
    return [name for name in disk.list_directory(f"/data/{topic}-0") if name.endswith(("cleaned", "swap"))]


@on_loop
async def test_dirty_logs_are_compacted_and_checkpointed() -> None:
    broker = FakeBroker()
    few, many = broker.add_log("few", updates=3), broker.add_log("many", updates=30)
    await broker.clean_until_idle()
    assert offsets_in(few.log) == [2]
    assert offsets_in(many.log) == [29]
    assert broker.checkpoints == 2
    assert not broker.cleaner.uncleanable


@on_loop
async def test_damaged_log_is_given_up_and_others_go_on() -> None:
    broker = FakeBroker()
    bad, good = broker.add_log("bad", updates=30), broker.add_log("good", updates=3)
    broker.disk.flip_bit(f"/data/bad-0/{0:020d}.log", 70)
    await broker.clean_until_idle()
    assert offsets_in(good.log) == [2]
    assert list(broker.cleaner.uncleanable) == [bad.log]
    assert not bad.log.is_being_compacted
    assert not leftovers(broker.disk, "bad")


@on_loop
async def test_log_that_cannot_be_read_now_is_looked_at_again() -> None:
    broker = FakeBroker()
    unread, good = broker.add_log("unread", updates=30), broker.add_log("good", updates=3)

    def refuse(now: int, end_offset: int) -> CleanablePart:
        raise StorageError("too many open files")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(unread.log, "cleanable_part", refuse)
        await broker.clean_until_idle()
    assert offsets_in(good.log) == [2]
    assert len(offsets_in(unread.log)) > 1
    assert (broker.unreadable, broker.failures) == ([unread] * len(broker.unreadable), [])
    assert broker.unreadable
    assert not broker.cleaner.uncleanable
    await broker.clean_until_idle()
    assert offsets_in(unread.log) == [29]


@on_loop
async def test_bug_in_one_log_does_not_stop_the_others() -> None:
    broker = FakeBroker()
    strange, good = broker.add_log("strange", updates=30), broker.add_log("good", updates=3)
    strange.log.group_segments = None  # type: ignore[method-assign, assignment]  # Anything may go wrong.
    await broker.clean_until_idle()
    assert offsets_in(good.log) == [2]
    assert strange.log in broker.cleaner.uncleanable


@on_loop
async def test_full_disk_is_waited_for() -> None:
    broker = FakeBroker()
    partition = broker.add_log("some", updates=30)
    broker.disk.capacity_bytes = broker.disk.used_bytes
    assert not await broker.cleaner._clean_dirtiest()
    assert not broker.cleaner.uncleanable
    assert not leftovers(broker.disk, "some")
    broker.disk.capacity_bytes = 1 << 30
    await broker.clean_until_idle()
    assert offsets_in(partition.log) == [29]


@on_loop
async def test_nothing_is_begun_while_the_disk_is_almost_full() -> None:
    broker = FakeBroker()
    broker.add_log("some", updates=30)
    broker.log_directory.room.is_low = True
    try:
        assert not await broker.cleaner._clean_dirtiest()
    finally:
        broker.log_directory.room.is_low = False


@on_loop
async def test_failed_flush_ends_the_broker() -> None:
    broker = FakeBroker()
    broker.add_log("some", updates=30)
    broker.disk.fail_flush(".cleaned")
    await broker.cleaner._clean_dirtiest()
    assert len(broker.failures) == 1


@pytest.mark.slow
@on_loop
async def test_released_log_is_let_go_at_any_moment() -> None:
    broker = FakeBroker()
    for moment in range(1, 60, 2):
        broker = FakeBroker()
        partition = broker.add_log("some", updates=30)
        calls = iter(range(moment))
        asked: list[asyncio.Task[None]] = []

        def ask(calls: Any = calls, broker: FakeBroker = broker, asked: list[Any] = asked) -> None:
            if next(calls, None) is None and not asked:
                asked.append(broker.loop.create_task(broker.cleaner.release(broker.replicas)))  # type: ignore[arg-type]

        broker.workers.on_call = ask
        await broker.cleaner._clean_dirtiest()
        if not asked:
            break
        await asked[0]
        assert not partition.log.is_being_compacted
        assert not partition.log.needs_swap
        assert not leftovers(broker.disk, "some"), f"let go at call {moment}"
        assert offsets_in(partition.log)[-1] == 29
    else:
        raise AssertionError("a pass never came to its end")


@on_loop
async def test_stopped_cleaner_ends_its_task() -> None:
    broker = FakeBroker()
    partition = broker.add_log("some", updates=30)
    broker.config.values["log.cleaner.backoff.ms"] = 0
    task = broker.loop.create_task(broker.cleaner.run())
    while broker.checkpoints == 0:
        await asyncio.sleep(0)
    await broker.cleaner.stop()
    await task
    assert offsets_in(partition.log) == [29]


@on_loop
async def test_disabled_cleaner_does_nothing() -> None:
    broker = FakeBroker()
    broker.add_log("some", updates=30)
    broker.config.values["log.cleaner.enable"] = False
    await broker.cleaner.run()
    assert broker.checkpoints == 0
