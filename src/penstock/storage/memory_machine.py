"""The machine around a simulated disk: which process is alive, when it stops, and what was told to fail.

Files and file system share one of these. It is where an operation is counted before it happens, so that a
test can stop the world in front of any of them.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

OPERATIONS_KEPT_MAX = 100_000


class MachineStopped(BaseException):
    """The machine stands still. No ordinary handler may catch it: a machine without power handles nothing."""


class Operation(NamedTuple):
    """One call that changes something, as the disk saw it."""

    name: str
    path: str


@dataclass(slots=True, kw_only=True)
class FlushFault:
    """An order to fail flushes: let ``after`` matching ones pass, then fail ``count``."""

    path_part: str
    after: int
    count: int


class MemoryMachine:
    """Life, death and orders to fail."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        #: Grows with every death; what was opened in an earlier one is unusable.
        self.incarnation = 0
        self.operations: deque[Operation] = deque(maxlen=OPERATIONS_KEPT_MAX)
        self.operation_count = 0
        self._stop_before: int | None = None
        self._is_stopped = False
        self._flush_faults: list[FlushFault] = []

    def stop_before(self, number: int) -> None:
        """Stand still in front of the operation with that number, counted from 0 since the beginning."""
        self._stop_before = number

    def fail_flush(self, fault: FlushFault) -> None:
        """Remember an order to fail."""
        self._flush_faults.append(fault)

    def check_running(self) -> None:
        """Raise if the machine stands still."""
        if self._is_stopped:
            raise MachineStopped("The simulated machine has stopped")

    def record(self, operation: Operation, midway: Callable[[], None] | None = None) -> None:
        """Count an operation that is about to happen; if it is the last one, at most part of it happens."""
        self.check_running()
        if self.operation_count == self._stop_before:
            self._is_stopped = True
            if midway is not None:
                midway()
            raise MachineStopped(f"Stopped before operation {self.operation_count}: {operation}")
        self.operation_count += 1
        self.operations.append(operation)

    def takes_flush_fault(self, path: str) -> bool:
        """Whether this flush was ordered to fail; uses the order up."""
        for fault in self._flush_faults:
            if fault.path_part in path:
                return self._use(fault)
        return False

    def restart(self) -> None:
        """Start the next process: nothing of the last one is usable, no order stands."""
        self.incarnation += 1
        self._is_stopped = False
        self._stop_before = None
        self._flush_faults.clear()

    def _use(self, fault: FlushFault) -> bool:
        if fault.after > 0:
            fault.after -= 1
            return False
        fault.count -= 1
        if fault.count <= 0:
            self._flush_faults.remove(fault)
        return True
