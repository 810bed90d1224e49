"""A producer that runs one transaction after the other, whatever happens to its broker."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from tests.broker.transactions.ledger import Attempt, Ending
from tests.broker.transactions.producer_client import SECONDS_MAX, Client, Producer, connected

from penstock.model.error_codes import ErrorCode

RETRY_SECONDS = 0.01
VALUES_MAX = 4
PARTITIONS = (0, 1)

_RETRIED = frozenset(
    {
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class GaveUp(Exception):
    """The transaction cannot go on: begin again with a new epoch."""


class BusyProducer:
    """Writes values that nobody else writes, to two partitions, in transactions of its own."""

    def __init__(
        self, number: int, address: Callable[[], str], random: Random, *, topic: str = "orders"
    ) -> None:
        self._number = number
        self._address = address
        self._random = random
        self._topic = topic
        self._values = 0
        self.attempts: list[Attempt] = []
        #: Requests that were answered.
        self.progress = 0
        self.is_finishing = False

    async def run(self) -> None:
        """Until told to finish; a broker that is away is waited for."""
        while not self.is_finishing:
            try:
                async with connected(self._address()) as client:
                    await self._work(client)
            except (OSError, EOFError, TimeoutError, GaveUp):
                await asyncio.sleep(RETRY_SECONDS)

    @staticmethod
    async def release(client: Client, number: int) -> None:
        """End what one of them left open, as its successor would."""
        async with asyncio.timeout(SECONDS_MAX):
            while (code := ErrorCode(await Producer(client, f"busy-{number}").init())) in _RETRIED:
                await asyncio.sleep(RETRY_SECONDS)
        assert code == ErrorCode.NONE, code.name

    async def _work(self, client: Client) -> None:
        producer = Producer(client, f"busy-{self._number}", is_second=self._number % 2 == 1)
        await self._retried(producer.init)
        while not self.is_finishing:
            attempt = Attempt()
            self.attempts.append(attempt)
            await self._transact(producer, attempt)

    async def _transact(self, producer: Producer, attempt: Attempt) -> None:
        if not producer.is_second:
            await self._retried(lambda: producer.add(self._topic, *PARTITIONS))
        for _ in range(self._random.randint(1, VALUES_MAX)):
            await self._produce(producer, attempt)
        if self._random.random() < 0.3:
            await self._retried(lambda: producer.end(is_commit=False))
            return
        attempt.ending = Ending.UNKNOWN
        await self._retried(producer.end)
        attempt.ending = Ending.COMMITTED

    async def _produce(self, producer: Producer, attempt: Attempt) -> None:
        partition = self._random.choice(PARTITIONS)
        self._values += 1
        value = b"%d:%d" % (self._number, self._values)
        batch = producer.batch(value, topic=self._topic, partition=partition)
        # It may be in the log although its answer never comes; then the transaction is never committed.
        attempt.add((self._topic, partition), value)
        await self._retried(lambda: self._send(producer, batch, partition))

    async def _send(self, producer: Producer, batch: bytes, partition: int) -> int:
        producer.send(batch, topic=self._topic, partition=partition)
        response = await producer.client.receive()
        return int(response.responses[0].partition_responses[0].error_code)

    async def _retried(self, ask: Callable[[], Awaitable[int]]) -> None:
        while True:
            code = await ask()
            self.progress += 1
            if code == ErrorCode.NONE:
                return
            if code not in _RETRIED:
                raise GaveUp(ErrorCode(code).name)
            await asyncio.sleep(RETRY_SECONDS)
