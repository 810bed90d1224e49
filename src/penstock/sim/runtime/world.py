"""Time and turns: the heap of what will happen, and the choice of which process runs next.

Time stands still while anybody can run, then jumps to the next event. Between processes that could run at the
same moment the seed chooses; inside a process everything keeps asyncio's own order, one round of callbacks
per turn.

A process that was killed stays in memory until the run is over. Were it collected, Python would throw
``GeneratorExit`` into its coroutines and run their ``finally`` blocks, which no killed process ever does.
"""

import asyncio
import heapq
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from penstock.sim.runtime.loop import SimulatedLoop

STEPS_MAX = 3_000_000
"""Callbacks of one run. Whoever needs more spins at one moment, or floods the network."""


@contextmanager
def unawaited_ignored() -> Iterator[None]:
    """Let go of what dead processes had begun: nobody was left to await it, and Python need not say so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        yield


class Runnable(Protocol):
    """Something that happens in a process: asyncio's handle, or an event of the world's."""

    #: Whether it must not happen any more.
    _cancelled: bool

    def _run(self) -> object:
        """Let it happen."""


class WorldEvent:
    """Something that the world does to a process: a segment arrives, a disk has written."""

    __slots__ = ("_arguments", "_callback", "_cancelled", "_loop")

    def __init__(
        self, loop: "SimulatedLoop", callback: Callable[..., object], arguments: tuple[object, ...]
    ) -> None:
        self._loop = loop
        self._callback = callback
        self._arguments = arguments
        self._cancelled = False

    def cancel(self) -> None:
        """Do not let it happen."""
        self._cancelled = True

    def _run(self) -> None:
        """As asyncio's handles do: what is raised goes to the loop's handler, and the loop goes on."""
        try:
            self._callback(*self._arguments)
        except Exception as error:
            self._loop.call_exception_handler({"message": "a callback failed", "exception": error})


class Occurrence:
    """Something that happens in no process: bytes on a wire."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback = callback


class World:
    """Everything that is simulated together."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        #: Seconds since the beginning; only moves forward.
        self.now = 0.0
        #: Callbacks run so far.
        self.steps = 0
        #: What went wrong outside of any promise: a callback that raised, a run without an end.
        self.accidents: list[str] = []
        #: Set to end the run before its time.
        self.is_over = False
        #: A checksum over everything noted so far; equal for equal runs.
        self.digest = 0
        self._events: list[tuple[float, float, int, SimulatedLoop | None, Runnable | Occurrence]] = []
        self._event_count = 0
        self._ready: list[SimulatedLoop] = []
        self._loops: list[SimulatedLoop] = []
        self._object_count = 0
        self._draw = self.stream("turns").random

    def stream(self, name: str) -> Random:
        """Random numbers for one purpose; what others draw does not change them."""
        return Random(f"{self.seed}/{name}")

    def note(self, text: str) -> None:
        """Make something that happened part of the digest."""
        self.digest = zlib.crc32(f"{self.now:.9f} {text}\n".encode(), self.digest)

    def number_object(self) -> int:
        """A number that no object of this world has yet, for those that need a stable hash."""
        self._object_count += 1
        return self._object_count

    def enter(self, loop: "SimulatedLoop") -> None:
        """A process has begun; the world keeps it until the end."""
        self._loops.append(loop)

    def at(
        self, delay: float, loop: "SimulatedLoop", callback: Callable[..., object], *arguments: object
    ) -> WorldEvent:
        """Have something happen to a process after a delay, unless it is dead by then."""
        event = WorldEvent(loop, callback, arguments)
        self.push(self.now + delay, loop, event)
        return event

    def soon(self, loop: "SimulatedLoop", callback: Callable[..., object], *arguments: object) -> None:
        """Have something happen to a process as soon as it runs, unless it is dead."""
        if not loop.is_dead:
            loop.ready.append(WorldEvent(loop, callback, arguments))
            self.make_ready(loop)

    def outside(self, delay: float, callback: Callable[[], object]) -> None:
        """Have something happen after a delay that no process takes part in."""
        self._event_count += 1
        occurrence = Occurrence(callback)
        heapq.heappush(self._events, (self.now + delay, self._draw(), self._event_count, None, occurrence))

    def push(self, when: float, loop: "SimulatedLoop", event: Runnable) -> None:
        """Let an event happen at a moment; events of one moment happen in an order that the seed draws."""
        self._event_count += 1
        moment = when if when > self.now else self.now
        heapq.heappush(self._events, (moment, self._draw(), self._event_count, loop, event))

    def make_ready(self, loop: "SimulatedLoop") -> None:
        """The process has something to run."""
        if not loop.is_queued:
            loop.is_queued = True
            self._ready.append(loop)

    def report(self, accident: str) -> None:
        """Something went wrong that nobody handled: the run is over."""
        self.accidents.append(f"at {self.now:.3f} s: {accident}")
        self.is_over = True

    def run_until(self, moment: float) -> None:
        """Let everything happen up to a moment, or until the run is over."""
        try:
            while not self.is_over:
                while self._ready and not self.is_over:
                    self._turn(self._choose())
                if not self._events or self._events[0][0] > moment:
                    break
                self._advance()
        finally:
            asyncio._set_running_loop(None)
        if not self.is_over:
            self.now = max(self.now, moment)

    def sweep(self) -> None:
        """Look for tasks that failed without anybody noticing."""
        for loop in self._loops:
            loop.sweep()

    def close(self) -> None:
        """End every process for good, in order, and let go of what they held."""
        self.is_over = True
        self._events.clear()
        self._ready.clear()
        with unawaited_ignored():
            for loop in self._loops:
                loop.bury()
            self._loops.clear()

    def _choose(self) -> "SimulatedLoop":
        ready = self._ready
        place = int(self._draw() * len(ready)) if len(ready) > 1 else 0
        chosen, ready[place] = ready[place], ready[-1]
        ready.pop()
        chosen.is_queued = False
        return chosen

    def _turn(self, loop: "SimulatedLoop") -> None:
        """Run what asyncio would run in one iteration of this process's loop."""
        if loop.is_dead or loop.is_paused:
            return
        asyncio._set_running_loop(loop)
        ready = loop.ready
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
                self.steps += 1
                if loop.is_closed():
                    return
        if self.steps > STEPS_MAX:
            self.report("the run does not come to an end: something spins or floods")
        if loop.ready:
            self.make_ready(loop)

    def _advance(self) -> None:
        """Jump to the next event."""
        when, _, _, loop, event = heapq.heappop(self._events)
        if isinstance(event, Occurrence):
            self.now = when
            self.steps += 1
            event.callback()
        elif loop is not None and not loop.is_dead and not event._cancelled:
            self.now = when
            loop.ready.append(event)
            self.make_ready(loop)
