"""The kernel's own flush in virtual time."""

from random import Random

from penstock.model.errors import FlushFailedError
from penstock.sim.runtime.descriptor_flusher import SimulatedDescriptorFlusher
from penstock.sim.runtime.disk import SimulatedDisk, SimulatedFile
from penstock.sim.runtime.loop import new_loop
from penstock.sim.runtime.workers import DiskSpeed, SimulatedWorkers
from penstock.sim.runtime.world import World


class Machine:
    """A disk with two files, and a kernel that flushes them."""

    def __init__(self) -> None:
        self.world = World(1)
        self.loop = new_loop(self.world, "a")
        self.disk = SimulatedDisk(Random(1))
        self.disk.make_directory("/data")
        self.files = [self._open(f"/data/{name}") for name in "xy"]
        self.disk.sync_directory("/data")
        self.disk.sync_directory("/")
        workers = SimulatedWorkers(self.loop, DiskSpeed(seconds_min=0.5, seconds_max=0.5), Random(1))
        self.flusher = SimulatedDescriptorFlusher(self.disk, workers)
        self.outcomes: list[BaseException | None] = []

    def _open(self, path: str) -> SimulatedFile:
        file = self.disk.open(path, create=True)
        assert isinstance(file, SimulatedFile)
        file.write(0, [b"written"])
        return file

    def flush(self, seconds: float) -> None:
        descriptors = [file.flush_descriptor() for file in self.files]
        self.flusher.flush(descriptors, self.outcomes.extend)
        self.world.run_until(seconds)


def test_flush_takes_time_and_makes_durable() -> None:
    machine = Machine()
    machine.flush(0.9)
    assert machine.outcomes == []
    machine.world.run_until(1.1)
    assert machine.outcomes == [None, None]
    machine.disk.power_loss()
    assert machine.disk.read_file("/data/x") == b"written"


def test_outage_before_the_flush_may_take_what_was_written() -> None:
    kept = set()
    for seed in range(20):
        machine = Machine()
        machine.disk.machine.rng.seed(seed)
        machine.flush(0.1)
        machine.loop.kill()
        machine.disk.power_loss()
        kept.add(machine.disk.read_file("/data/x") == b"written")
    assert kept == {True, False}


def test_failure_is_told_for_the_file_that_failed() -> None:
    machine = Machine()
    machine.disk.fail_flush("/data/y")
    machine.flush(2.0)
    assert machine.outcomes[0] is None
    assert isinstance(machine.outcomes[1], FlushFailedError)
