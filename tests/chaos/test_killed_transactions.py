"""kill -9 in the middle of transactions of both protocols: each is whole or absent, as its producer was told.

``PENSTOCK_KILL_ROUNDS`` says how often. The moments are drawn from a fixed seed, as numbers of answers.
"""

import asyncio
import random

import pytest
from tests.broker.transactions.busy_producer import BusyProducer
from tests.broker.transactions.ledger import Ending, check
from tests.broker.transactions.producer_client import connected, read, read_through
from tests.broker.transactions.stories import settle
from tests.broker_process import Server
from tests.chaos.vitals import KILL_ROUNDS, TRACEBACK
from tests.conftest import MakeServer
from tests.raw_kafka import Connection

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(900)]

PRODUCERS = 4
ANSWERS_MAX = 300
ANSWER_SECONDS = 60.0


def test_killed_broker_keeps_transactions_whole(make_server: MakeServer) -> None:
    server = make_server()
    with Connection(server.bootstrap) as connection:
        assert connection.create_topic("orders", partitions=2) == 0
    producers = [
        BusyProducer(number, lambda: server.bootstrap, random.Random(f"producer {number}"))
        for number in range(PRODUCERS)
    ]
    asyncio.run(kill_and_check(server, producers))
    assert TRACEBACK not in server.stderr_text()


async def kill_and_check(server: Server, producers: list[BusyProducer]) -> None:
    dice = random.Random("kill -9 in transactions")
    async with asyncio.TaskGroup() as tasks:
        for producer in producers:
            tasks.create_task(producer.run())
        for _ in range(KILL_ROUNDS):
            await answered(producers, dice.randint(1, ANSWERS_MAX))
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.restart)
        await answered(producers, ANSWERS_MAX)
        for producer in producers:
            producer.is_finishing = True
    attempts = [attempt for each in producers for attempt in each.attempts]
    assert sum(each.ending is Ending.COMMITTED for each in attempts) > KILL_ROUNDS
    check(attempts, await everything_committed(server))


async def answered(producers: list[BusyProducer], count: int) -> None:
    """Wait for so many more answers."""
    wanted = sum(each.progress for each in producers) + count
    async with asyncio.timeout(ANSWER_SECONDS):
        while sum(each.progress for each in producers) < wanted:
            await asyncio.sleep(0.001)


async def everything_committed(server: Server) -> dict[tuple[str, int], list[bytes | None]]:
    """What a reader sees once every transaction has come to its end."""
    seen = {}
    async with connected(server.bootstrap) as client:
        for number in range(PRODUCERS):
            await BusyProducer.release(client, number)
        for partition in (0, 1):
            end = (await read(client, partition=partition)).high_watermark
            await settle(client, end, partition=partition)
            seen["orders", partition], _ = await read_through(client, partition=partition, max_bytes=1 << 20)
    return seen
