"""asyncio's event loop for one simulated process, from its start to its end.

It does what a selector loop does, as far as our code can tell: callbacks in order, timers, tasks and, through
the network, servers and connections. It has no threads, no files and no subprocesses; whoever asks for those
is told so by ``NotImplementedError``.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

from penstock.sim.runtime.futures import SimulatedFuture, SimulatedTask
from penstock.sim.runtime.world import Runnable, World

if TYPE_CHECKING:
    from penstock.sim.network.network import Network
    from penstock.sim.network.server import SimulatedServer

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

TIMER_SLACK_SECONDS = 1e-9
"""Added to every timer: one that rounding fires a moment early is set again for the same moment, for ever."""

TASKS_SWEPT_AT = 512


class SimulatedLoop(asyncio.AbstractEventLoop):
    """The loop of one process. ``name`` is the host that it runs on."""

    def __init__(
        self, world: World, name: str, *, network: "Network | None" = None, drift: float = 1.0
    ) -> None:
        self.world = world
        self.name = name
        #: How fast this process's clocks run, compared with the world's.
        self.drift = drift
        self.ready: deque[Runnable] = deque()
        self.is_queued = False
        self.is_dead = False
        self.is_paused = False
        self._network = network
        self._tasks: list[asyncio.Task[Any]] = []
        self._sweep_at = TASKS_SWEPT_AT
        world.enter(self)

    def __repr__(self) -> str:
        return f"<loop of {self.name}>"

    # Life and death.

    def kill(self) -> None:
        """End the process without a word: nothing in it runs any more, not even a ``finally``."""
        self.is_dead = True
        self.ready.clear()

    def pause(self) -> None:
        """Stop the process as SIGSTOP does."""
        self.is_paused = True

    def resume(self) -> None:
        """Let it go on: everything that was due meanwhile happens now."""
        self.is_paused = False
        if self.ready:
            self.world.make_ready(self)

    def bury(self) -> None:
        """The run is over: close what is left of the coroutines, in the order they were started."""
        self.kill()
        asyncio._set_running_loop(self)
        try:
            for task in self._tasks:
                if not task.done():
                    _close_coroutine(task)
        finally:
            asyncio._set_running_loop(None)
        self._tasks.clear()

    # Time.

    def time(self) -> float:
        """Seconds as this process counts them."""
        return self.world.now * self.drift

    def call_soon(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Run in the next turn."""
        handle = asyncio.Handle(callback, args, self, context)
        if not self.is_dead:
            self.ready.append(handle)
            self.world.make_ready(self)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        """Run in the next turn; there are no threads to be safe from."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run after so many of this process's seconds."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run at a moment of this process's time."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        if not self.is_dead:
            self.world.push(when / self.drift + TIMER_SLACK_SECONDS, self, handle)
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """The world skips cancelled events when their time comes."""

    # Futures and tasks.

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this process."""
        return SimulatedFuture(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[T]:
        """Run a coroutine in this process."""
        task = SimulatedTask(coro, loop=self, name=name or "unnamed", context=context)
        # Those of a killed process are never finished, and nobody is to complain about it.
        task._log_destroy_pending = False  # type: ignore[attr-defined] # CPython's switch, not in typeshed
        self._tasks.append(task)
        if len(self._tasks) > self._sweep_at:
            self.sweep()
            self._sweep_at = max(TASKS_SWEPT_AT, 2 * len(self._tasks))
        return task

    def sweep(self) -> None:
        """Forget tasks that have ended; report those that failed without anybody noticing."""
        ended = [task for task in self._tasks if task.done()]
        self._tasks = [task for task in self._tasks if not task.done()]
        for task in ended:
            # CPython's mark of an error that nobody has asked for yet.
            if not task.cancelled() and task._log_traceback:
                context = {"message": f"task {task.get_name()} failed", "exception": task.exception()}
                self.call_exception_handler(context)

    # What asyncio asks its loop.

    def get_debug(self) -> bool:
        """There is no debugging mode."""
        return False

    def is_running(self) -> bool:
        """A process runs until it ends."""
        return not self.is_dead

    def is_closed(self) -> bool:
        """Whether it has ended."""
        return self.is_dead

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """A callback raised, or a task's error was never looked at: that ends the run."""
        if not self.is_dead and not self.world.is_over:
            self.world.report(f"{self.name}: {context.get('message')}: {context.get('exception')!r}")

    # The network.

    async def create_server(  # type: ignore[override] # typeshed's overloads name a dozen socket options
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | None = None,
        port: int = 0,
        *,
        backlog: int = 100,
        start_serving: bool = True,
    ) -> "SimulatedServer":
        """Listen on this host."""
        return self._connected.listen(self, protocol_factory, port, is_serving=start_serving)

    async def create_connection(  # type: ignore[override] # as above
        self, protocol_factory: Callable[[], asyncio.BaseProtocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect to a server of the simulated network."""
        return await self._connected.connect(self, protocol_factory, host, port)

    @property
    def _connected(self) -> "Network":
        if self._network is None:
            raise NotImplementedError(f"{self.name} is not connected to a network")
        return self._network


def new_loop(
    world: World, name: str, *, network: "Network | None" = None, drift: float = 1.0
) -> SimulatedLoop:
    """The loop of a process that begins now on the host of that name."""
    # What is missing is what simulated processes must not ask for: descriptors, signals, subprocesses.
    return SimulatedLoop(world, name, network=network, drift=drift)  # type: ignore[abstract]


def _close_coroutine(task: "asyncio.Task[Any]") -> None:
    """Let a coroutine's ``finally`` blocks run at last; what they still want no longer matters."""
    coroutine = task.get_coro()
    if not isinstance(coroutine, Coroutine):
        return
    try:
        coroutine.close()
    except RuntimeError:
        return  # it wanted to wait for something
