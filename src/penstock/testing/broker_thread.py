"""A broker in a thread of this process, with an event loop of its own; started, stopped, killed and frozen.

What a broker *process* does to its process (signals, limits, the collector, the umask) is left alone: it
belongs to somebody else.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from penstock.broker.broker import Broker
from penstock.broker.connection import Requests
from penstock.broker.entropy import SystemEntropy
from penstock.model.errors import OperatingError, StorageError, UsageError
from penstock.testing.broker_log import BrokerLog
from penstock.testing.broker_loop import BrokerLoop, Killed
from penstock.testing.links import Links
from penstock.testing.machine import HOST, Machine
from penstock.testing.settings import config_of

logger = logging.getLogger("penstock.broker.thread")

T = TypeVar("T")

START_SECONDS_MAX = 30.0
STOP_SECONDS_MAX = 20.0
ANSWER_SECONDS_MAX = 30.0


class BrokerThread:
    """One life of a broker; the machine has others before and after it."""

    def __init__(
        self,
        machine: Machine,
        settings: Mapping[str, str],
        *,
        name: str,
        log: BrokerLog,
        interceptor: Callable[[Requests], Requests],
    ) -> None:
        self._machine = machine
        self._config = config_of(
            {"listeners": f"{HOST}:{machine.port.number}", "kernel.flush.enable": "false", **settings}
        )
        self._log = log
        self._interceptor = interceptor
        self._links = Links(machine.network, machine.port.number)
        self._ready: Future[None] = Future()
        self._started_loop: Future[BrokerLoop] = Future()
        self._gate: threading.Event | None = None
        self._is_killed = False
        self._wants_resets = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._broker: Broker | None = None

    @property
    def is_running(self) -> bool:
        """Whether the broker has started and not ended."""
        return self._broker is not None and self._thread.is_alive()

    @property
    def is_paused(self) -> bool:
        """Whether the loop is frozen."""
        return self._gate is not None

    @property
    def broker(self) -> Broker:
        """The broker; only its own loop may touch what changes."""
        if self._broker is None:
            raise UsageError("The broker has not been started.")
        return self._broker

    # Life and death.

    def launch(self) -> None:
        """Begin to start."""
        self._thread.start()

    def wait_ready(self) -> None:
        """Return when clients may connect; raises what kept the broker from starting."""
        try:
            self._ready.result(START_SECONDS_MAX)
        except TimeoutError:
            raise OperatingError(
                f"The broker was not ready within {START_SECONDS_MAX:g} s.\n{self._log.tail()}"
            ) from None

    def stop(self) -> None:
        """End in good order."""
        self.resume()
        if self._broker is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._told_to_stop.set)
            self._thread.join(STOP_SECONDS_MAX)
        if self._thread.is_alive():
            self.kill(resets_connections=False)
            raise OperatingError(f"The broker had not stopped within {STOP_SECONDS_MAX:g} s and was killed.")

    def kill(self, *, resets_connections: bool = True) -> None:
        """End at once, from whatever state; nothing more is written or answered."""
        self._is_killed = True
        self._wants_resets = resets_connections
        if self._thread.ident is None:
            return
        loop = self._started_loop.result(START_SECONDS_MAX)
        with suppress(RuntimeError):  # it has ended by itself, and its loop is closed
            loop.call_soon_threadsafe(self._die)
        self.resume()
        self._thread.join()

    def pause(self) -> None:
        """Freeze the loop, as SIGSTOP does; returns when it stands still."""
        if self._gate is None:
            gate, frozen = threading.Event(), threading.Event()
            self._loop.call_soon_threadsafe(self._freeze, gate, frozen)
            if not frozen.wait(ANSWER_SECONDS_MAX):
                raise OperatingError(f"The broker could not be paused within {ANSWER_SECONDS_MAX:g} s.")
            self._gate = gate

    def resume(self) -> None:
        """Let it go on; everything that was due meanwhile happens now."""
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.set()

    # Questions.

    def run(self, ask: Callable[[Broker], Coroutine[Any, Any, T]]) -> T:
        """Have something done on the broker's loop, and wait for the result."""
        if self.is_paused:
            raise UsageError("The broker is paused: resume it first.")
        if not self.is_running:
            raise UsageError("The broker is not running: start or restart it first.")
        asked = asyncio.run_coroutine_threadsafe(ask(self.broker), self._loop)
        return asked.result(ANSWER_SECONDS_MAX)

    async def settle(self, broker: Broker) -> None:
        """On the loop: return when everything that could happen now has happened."""
        await self._loop.settle(lambda: broker.flusher.is_idle and self._workers.is_idle)

    def links_changed(self) -> None:
        """The network was cut or healed."""
        if self.is_running and not self.is_paused:
            self.run(self._follow_links)
        elif self.is_paused:
            self._loop.call_soon_threadsafe(self._links.changed)

    async def _follow_links(self, broker: Broker) -> None:
        self._links.changed()

    # The thread.

    def _run(self) -> None:
        with self._log.of_this_thread():
            loop = BrokerLoop(self._machine.clock, self._links)
            self._loop = loop
            self._workers = self._machine.disk.new_workers(loop)
            self._life = loop.create_task(self._live(loop), name="broker")
            self._started_loop.set_result(loop)
            try:
                loop.run_forever()
            except Killed:
                logger.info("killed")
            finally:
                self._clean_up(loop)

    def _clean_up(self, loop: BrokerLoop) -> None:
        """As the kernel does: first nothing can be written any more, then everything is closed."""
        self._workers.abandon()
        self._machine.disk.process_ended()
        loop.bury(resets_connections=self._wants_resets)
        if not self._ready.done():
            self._ready.set_exception(OperatingError("The broker was killed before it was ready."))

    async def _live(self, loop: BrokerLoop) -> None:
        try:
            await self._serve(loop)
        except Exception as error:
            if self._ready.done():
                logger.exception("the broker failed")
            else:
                self._ready.set_exception(error)
        loop.stop()

    async def _serve(self, loop: BrokerLoop) -> None:
        disk = self._machine.disk
        broker = Broker(
            self._config,
            data_directory=disk.directory,
            loop=loop,
            filesystem=disk.filesystem,
            clock=self._machine.clock,
            entropy=SystemEntropy(),
            on_fatal=self._fail,
            workers=self._workers,
            interceptor=self._interceptor,
        )
        self._told_to_stop = asyncio.Event()
        await broker.start()
        self._broker = broker
        self._ready.set_result(None)
        await self._told_to_stop.wait()
        await broker.stop()

    def _fail(self, error: Exception) -> None:
        """A flush failed, or a bug was met: a process would end here and now."""
        what = "flush failed" if isinstance(error, StorageError) else "a bug"
        logger.critical("%s, ending now", what, extra={"reason": str(error)})
        self._loop.call_soon(self._die)

    def _die(self) -> None:
        raise Killed

    def _freeze(self, gate: threading.Event, frozen: threading.Event) -> None:
        frozen.set()
        gate.wait()
        if self._is_killed:
            raise Killed
