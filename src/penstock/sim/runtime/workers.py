"""Blocking work without threads: each job happens at one later moment, and is reported at another.

Jobs overtake each other as they do on real threads. What a crash may find is a job not begun, a job done that
nobody heard of, or, where the disk itself has an appointment to stop, a job done in part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, TypeVar

from penstock.sim.runtime.loop import SimulatedLoop

T = TypeVar("T")

Done = Callable[[Sequence[BaseException | None]], None]
"""Told how each call of a round ended."""


@dataclass(slots=True, kw_only=True)
class DiskSpeed:
    """How long jobs take on one machine; changes while it runs."""

    seconds_min: float = 0.0001
    seconds_max: float = 0.001
    #: Nothing begins before this moment of the world.
    stalled_until: float = 0.0

    def draw(self, draw: Random) -> float:
        """The time of one half of a job: mostly near the lower end, as disks are."""
        chance = draw.random()
        return self.seconds_min + (self.seconds_max - self.seconds_min) * chance * chance * chance


class SimulatedWorkers:
    """Runs the blocking calls of one process in virtual time."""

    def __init__(self, loop: SimulatedLoop, speed: DiskSpeed, draw: Random) -> None:
        self._loop = loop
        self._world = loop.world
        self._speed = speed
        self._draw = draw

    def run(self, calls: Sequence[Callable[[], None]], done: Done) -> None:
        """Run all calls, each at its own moment; then tell the loop how each of them ended."""
        outcomes: list[BaseException | None] = [None] * len(calls)
        left = len(calls)

        def ended(number: int, result: object, error: BaseException | None) -> None:
            nonlocal left
            outcomes[number] = error
            left -= 1
            if left == 0:
                done(outcomes)

        for number, call in enumerate(calls):
            self._begin(call, partial(ended, number))

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run one function at a later moment and await its result."""
        answered = self._loop.create_future()

        def ended(result: object, error: BaseException | None) -> None:
            if answered.done():
                return
            if error is None:
                answered.set_result(result)
            else:
                answered.set_exception(error)

        self._begin(partial(function, *arguments), ended)
        result: T = await answered
        return result

    def stop(self) -> None:
        """Nobody is left to end."""

    def _begin(self, work: Callable[[], object], report: Callable[[Any, BaseException | None], None]) -> None:
        stall = max(0.0, self._speed.stalled_until - self._world.now)
        self._world.at(stall + self._speed.draw(self._draw), self._loop, self._perform, work, report)

    def _perform(
        self, work: Callable[[], object], report: Callable[[Any, BaseException | None], None]
    ) -> None:
        result: object = None
        failure: BaseException | None = None
        try:
            result = work()
        except BaseException as error:  # carried to the loop, which decides; nothing is swallowed here
            failure = error
        if not self._loop.is_dead:
            self._world.at(self._speed.draw(self._draw), self._loop, report, result, failure)
