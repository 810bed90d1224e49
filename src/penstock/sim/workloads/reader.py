"""A consumer without a group: it reads every partition of a topic from its beginning, in order."""

from dataclasses import dataclass

from penstock.model.error_codes import ErrorCode
from penstock.sim.workloads.connection import Unanswered
from penstock.sim.workloads.fetching import fetch
from penstock.sim.workloads.history import Ending, Function
from penstock.sim.workloads.verdicts import end_unanswered
from penstock.sim.workloads.workload import Workload, WorkloadSurroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSettings:
    """What it reads."""

    topic: str
    partition_count: int
    isolation: str
    pause_seconds: float = 0.3
    #: Whether it asks followers, too.
    asks_anybody: bool = False


class Reader(Workload):
    """Polls one partition after the other."""

    def __init__(self, around: WorkloadSurroundings, settings: ReaderSettings) -> None:
        super().__init__(around)
        self._settings = settings
        self._positions = dict.fromkeys(range(settings.partition_count), 0)

    async def run(self) -> None:
        """Read until it is over and there is nothing new."""
        has_caught_up = False
        while not (self.is_over and has_caught_up):
            has_caught_up = True
            for partition in self._positions:
                await self.pause(self._settings.pause_seconds)
                has_caught_up = await self._poll(partition) and has_caught_up

    async def _poll(self, partition: int) -> bool:
        """Read on in one partition; whether it surely has nothing new."""
        topic, isolation = self._settings.topic, self._settings.isolation
        position = self._positions[partition]
        operation = self.history.begin(
            self.process, Function.POLL, f"{topic}-{partition}", offset=position, context=isolation
        )
        try:
            found = await fetch(
                self.client,
                topic,
                partition,
                position,
                isolation,
                asks_anybody=self._settings.asks_anybody,
            )
        except Unanswered as error:
            end_unanswered(self.history, operation, error)
            return False
        if found.error_code:
            self.history.end(operation, Ending.FAIL, ErrorCode(found.error_code).name)
            return False
        operation.value = found.records
        self.history.end(operation, Ending.OK)
        self._positions[partition] = found.next_offset
        self.on_progress()
        return found.next_offset == position
