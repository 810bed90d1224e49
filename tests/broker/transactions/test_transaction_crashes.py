"""Transactions are whole or absent, however often their broker dies while they run."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import TypeVar

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk
from tests.broker.transactions.busy_producer import BusyProducer
from tests.broker.transactions.ledger import check
from tests.broker.transactions.producer_client import connected, read, read_through
from tests.broker.transactions.stories import FEW, settle

from penstock.broker.broker import Broker
from penstock.broker.clock import SystemClock
from penstock.broker.entropy import SystemEntropy
from penstock.config.sources import load_broker_config
from penstock.storage.memory_filesystem import MemoryFileSystem

T = TypeVar("T")

ROUNDS = 12
PRODUCERS = 4
ANSWERS_MAX = 120
FLUSH_SECONDS_MAX = 0.003


class LoopWorkers:
    """Blocking work on the loop itself, each piece some time later: so a crash comes between any two."""

    def __init__(self, loop: asyncio.AbstractEventLoop, random: Random) -> None:
        self._loop = loop
        self._random = random

    def run(
        self, calls: Sequence[Callable[[], None]], done: Callable[[Sequence[BaseException | None]], None]
    ) -> None:
        outcomes: dict[int, BaseException | None] = {}

        def run_one(number: int) -> None:
            try:
                calls[number]()
            except Exception as error:  # As threads do: carried to the loop, which decides.
                outcomes[number] = error
            else:
                outcomes[number] = None
            if len(outcomes) == len(calls):
                done([outcomes[each] for each in range(len(calls))])

        for number in range(len(calls)):
            self._loop.call_later(self._random.uniform(0, FLUSH_SECONDS_MAX), run_one, number)

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        await asyncio.sleep(0)
        return function(*arguments)

    def stop(self) -> None:
        pass


@asynccontextmanager
async def doomed_broker(disk: MemoryFileSystem, random: Random) -> AsyncIterator[Broker]:
    """A broker that will be dead to its disk at the end."""
    loop = asyncio.get_running_loop()
    broker = Broker(
        load_broker_config(
            flags={"listeners": "PLAINTEXT://127.0.0.1:0", "offsets.topic.num.partitions": "2", **FEW}
        ),
        data_directory="/data",
        loop=loop,
        filesystem=disk,
        clock=SystemClock(),
        entropy=SystemEntropy(),
        on_fatal=lambda error: None,
        workers=LoopWorkers(loop, random),
    )
    await broker.start()
    try:
        yield broker
    finally:
        await broker.server.stop(0.0)
        await broker.tasks.stop()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("loses_power", [False, True], ids=["killed", "power lost"])
def test_transactions_are_atomic_over_crashes(seed: int, loses_power: bool) -> None:
    random = Random(seed)
    disk = new_disk()
    addresses = [""]
    producers = [
        BusyProducer(number, lambda: addresses[-1], Random(f"{seed} {number}")) for number in range(PRODUCERS)
    ]

    async def until_crash() -> None:
        wanted = sum(each.progress for each in producers) + random.randint(1, ANSWERS_MAX)
        async with asyncio.timeout(20):
            while sum(each.progress for each in producers) < wanted:
                await asyncio.sleep(0)
        # Answers come at the end of a flush; the worst moments are between two.
        await asyncio.sleep(random.uniform(0, 2 * FLUSH_SECONDS_MAX))
        if loses_power:
            disk.power_loss()
        else:
            disk.crash()

    async def run() -> None:
        async with asyncio.TaskGroup() as tasks:
            async with living_broker(disk, **FEW) as broker:
                await make_topic(broker)
            for round_number in range(ROUNDS):
                async with doomed_broker(disk, random) as broker:
                    addresses.append(broker.address)
                    if round_number == 0:
                        for producer in producers:
                            tasks.create_task(producer.run())
                    await until_crash()
            async with living_broker(disk, **FEW) as broker:
                addresses.append(broker.address)
                await asyncio.sleep(0.2)
                for producer in producers:
                    producer.is_finishing = True
                await asyncio.sleep(0.1)
                await check_all(broker)

    async def check_all(broker: Broker) -> None:
        seen = {}
        async with connected(broker) as client:
            for number in range(PRODUCERS):
                await BusyProducer.release(client, number)
            for partition in (0, 1):
                end = (await read(client, partition=partition)).high_watermark
                await settle(client, end, partition=partition)
                found, _ = await read_through(client, partition=partition, max_bytes=1 << 20)
                seen["orders", partition] = found
        attempts = [attempt for each in producers for attempt in each.attempts]
        assert any(found for found in seen.values())
        check(attempts, seen)

    asyncio.run(run())
