"""The disk of a simulated machine, which may have an appointment to take the machine down with it."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from penstock.storage.memory_filesystem import MemoryFile, MemoryFileSystem
from penstock.storage.memory_machine import MachineStopped, MemoryMachine, Operation
from penstock.storage.memory_nodes import FileNode


@dataclass(slots=True, kw_only=True)
class Appointment:
    """Stop in front of the ``ordinal``-th operation of that name on a path that holds ``path_part``."""

    operation: str
    path_part: str
    ordinal: int
    #: Called at that moment, in the middle of the process's own code.
    on_stop: Callable[[], None]


class AppointedMachine(MemoryMachine):
    """Counts operations towards its appointment."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._appointment: Appointment | None = None

    def arrange(self, appointment: Appointment | None) -> None:
        """Keep one appointment, counted from now, over restarts too; None keeps none."""
        self._appointment = appointment

    def forget_faults(self) -> None:
        """Let no flush fail that has not failed yet."""
        self._flush_faults.clear()

    def stop(self) -> None:
        """Stand still from now on, until the next start."""
        self._is_stopped = True

    def record(self, operation: Operation, midway: Callable[[], None] | None = None) -> None:
        """Stop here if this is the operation."""
        appointment = self._appointment
        if appointment is None or not self._matches(appointment, operation):
            super().record(operation, midway)
            return
        if appointment.ordinal > 0:
            appointment.ordinal -= 1
            super().record(operation, midway)
            return
        self._appointment = None
        self.stop_before(self.operation_count)
        try:
            super().record(operation, midway)
        except MachineStopped:
            appointment.on_stop()
            raise

    def _matches(self, appointment: Appointment, operation: Operation) -> bool:
        return appointment.operation in ("", operation.name) and appointment.path_part in operation.path


class SimulatedFile(MemoryFile):
    """An open file with a descriptor, on which somebody else may flush it."""

    __slots__ = ("_descriptor",)

    def __init__(self, disk: "SimulatedDisk", path: str, node: FileNode) -> None:
        super().__init__(disk, path, node)
        self._descriptor = disk.describe(self)

    def flush_descriptor(self) -> int:
        """Its number."""
        return self._descriptor


class SimulatedDisk(MemoryFileSystem):
    """A memory file system on a machine with appointments."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.appointed = AppointedMachine(rng)
        self.machine = self.appointed
        self._described: list[SimulatedFile] = []

    def describe(self, file: SimulatedFile) -> int:
        """A descriptor for a file that was opened; numbers are never used again."""
        self._described.append(file)
        return len(self._described) - 1

    def described(self, descriptor: int) -> SimulatedFile:
        """The file of a descriptor."""
        return self._described[descriptor]

    def _make_file(self, path: str, node: FileNode) -> MemoryFile:
        return SimulatedFile(self, path, node)
