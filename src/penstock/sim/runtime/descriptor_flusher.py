"""The kernel's own flush in virtual time: files by descriptor, each at its own moment, reported together.

What a broker writes on its loop lies in the page cache until then, which is the window that outages look for.
"""

from collections.abc import Sequence
from functools import partial

from penstock.sim.runtime.disk import SimulatedDisk
from penstock.sim.runtime.workers import Done, SimulatedWorkers


class SimulatedDescriptorFlusher:
    """Flushes files of one disk for one process."""

    def __init__(self, disk: SimulatedDisk, workers: SimulatedWorkers) -> None:
        self._disk = disk
        self._workers = workers

    def flush(self, descriptors: Sequence[int], done: Done) -> None:
        """Flush all of them; then tell how each of them ended."""
        self._workers.run([partial(self._flush_one, descriptor) for descriptor in descriptors], done)

    def _flush_one(self, descriptor: int) -> None:
        self._disk.described(descriptor).flush()
