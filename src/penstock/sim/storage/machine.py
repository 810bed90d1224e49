"""The simulated machine with an appointment: it stops in front of an operation that the plan names."""

from collections import Counter
from collections.abc import Callable
from random import Random

from penstock.sim.storage.plan import Stop
from penstock.storage.memory_machine import MemoryMachine, Operation

CALLS_MAX = 300_000
"""Of the disk, between two appointments: whoever needs more is lost in a loop."""


class RunawayError(BaseException):
    """Storage did not come to an end. No handler of storage's may catch it."""


class PlannedMachine(MemoryMachine):
    """Counts operations by name, so that a stop can be meant for the third flush or the first rename."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._appointment: Stop | None = None
        self._seen: Counter[str] = Counter()
        self._calls = 0

    def arrange(self, stop: Stop | None) -> None:
        """Keep one appointment, counted from now; None keeps none."""
        self._appointment = stop
        self._seen = Counter()
        self._calls = 0

    def check_running(self) -> None:
        """Also notice a process that asks the disk for ever."""
        self._calls += 1
        if self._calls > CALLS_MAX:
            raise RunawayError(f"{self._calls} calls of the disk")
        super().check_running()

    def record(self, operation: Operation, midway: Callable[[], None] | None = None) -> None:
        """Stop here if this is the operation."""
        stop = self._appointment
        if stop is not None and stop.operation in ("", operation.name):
            if self._seen[stop.operation] == stop.ordinal:
                self.stop_before(self.operation_count)
            self._seen[stop.operation] += 1
        super().record(operation, midway)
