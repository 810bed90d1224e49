"""A producer that writes in transactions over several partitions, and aborts some of them on purpose."""

from dataclasses import dataclass

from penstock.sim.workloads.transaction import (
    ABORT,
    COMMIT,
    TransactionEnds,
    TransactionLost,
    TransactionSettings,
)
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionalSettings:
    """What it does."""

    topic: str
    partition_count: int
    transactions: TransactionSettings
    pause_seconds: float = 0.15
    sends_max: int = 3
    records_max: int = 2
    abort_share: float = 0.25


class TransactionalProducer(Workload):
    """One transaction after the other."""

    def __init__(self, around: WorkloadSurroundings, settings: TransactionalSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._transaction = TransactionEnds(self, settings.transactions)

    async def run(self) -> None:
        """Write until it is over."""
        while not self.is_over:
            await self.pause(self._settings.pause_seconds)
            if await self._transaction.begin():
                await self._write()

    async def _write(self) -> None:
        settings = self._settings
        try:
            for _ in range(self.draw.randint(1, settings.sends_max)):
                partition = self.draw.randrange(settings.partition_count)
                values = self.new_values(self.draw.randint(1, settings.records_max))
                await self._transaction.send(settings.topic, partition, values)
                await self.pause(settings.pause_seconds / 4)
        except TransactionLost:
            await self._transaction.end(ABORT)
            # What was sent may or may not have used up its sequence: only a new epoch is safe.
            self._transaction.abandon()
            return
        decision = ABORT if self.draw.random() < settings.abort_share else COMMIT
        await self._transaction.end(decision)
