"""What all workloads are: one client process that does its thing until the run is over."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from penstock.sim.workloads.client import Client
from penstock.sim.workloads.history import History


@dataclass(slots=True, kw_only=True)
class WorkloadSurroundings:
    """What a workload is given; the same kind of thing for each incarnation of its process."""

    client: Client
    history: History
    draw: Random
    #: Its name in the history: the process and how often it has been started.
    process: str
    #: Called when something was achieved that a healthy cluster must allow.
    on_progress: Callable[[], None]
    #: Whether it should come to an end.
    is_over: Callable[[], bool]


class Workload:
    """Runs until it is told that it is over, whatever happens to it."""

    def __init__(self, around: WorkloadSurroundings) -> None:
        self.client = around.client
        self.history = around.history
        self.draw = around.draw
        self.process = around.process
        self.on_progress = around.on_progress
        self._is_over = around.is_over
        self._value_count = 0

    async def run(self) -> None:
        """Work; each kind in its own way."""
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Whether it should come to an end."""
        return self._is_over()

    async def pause(self, mean_seconds: float) -> None:
        """Do nothing for a time drawn around a mean."""
        await asyncio.sleep(self.draw.uniform(0.2, 1.8) * mean_seconds)

    def new_values(self, count: int) -> tuple[str, ...]:
        """Values that nobody else sends."""
        first = self._value_count
        self._value_count += count
        return tuple(f"{self.process}:{number}" for number in range(first, first + count))
