"""A broker in this process: a thread, a machine under it, and what only a neighbour can do to it."""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from penstock.broker.broker import Broker
from penstock.broker.connection import Requests
from penstock.broker.dispatch import awaited_handler
from penstock.model.errors import UsageError
from penstock.model.ids import TopicId
from penstock.testing.broker_log import BrokerLog
from penstock.testing.broker_thread import BrokerThread
from penstock.testing.faults import Faults
from penstock.testing.interceptor import Interceptor, Silence
from penstock.testing.machine import HOST, Machine
from penstock.testing.request_log import RequestLog
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import header_for
from penstock.wire.schema import Struct

T = TypeVar("T")

EXPIRY_ROUNDS = 2
"""In the first, a segment that is still written to gets a successor; in the second it can go."""


class ThreadHome:
    """Brokers one after the other in threads of their own."""

    def __init__(
        self, machine: Machine, *, name: str, faults: tuple[Faults, ...], requests: tuple[RequestLog, ...]
    ) -> None:
        self.machine = machine
        self._name = name
        self._faults = faults
        self._requests = requests
        self._log = BrokerLog()
        self._silence = Silence()
        self._thread: BrokerThread | None = None

    @property
    def address(self) -> str:
        """``host:port`` for clients; the same for ever."""
        return f"{HOST}:{self.machine.port.number}"

    @property
    def is_running(self) -> bool:
        """Whether a broker is there, paused or not."""
        return self._thread is not None and self._thread.is_running

    @property
    def is_paused(self) -> bool:
        """Whether it is frozen."""
        return self._thread is not None and self._thread.is_paused

    # Life and death.

    def launch(self, settings: Mapping[str, str]) -> None:
        """Begin to start a broker."""
        self._silence = Silence()
        self._thread = BrokerThread(
            self.machine, settings, name=self._name, log=self._log, interceptor=self._new_interceptor
        )
        self._thread.launch()

    def wait_ready(self) -> None:
        """Return when clients may connect."""
        self._started().wait_ready()

    def stop(self) -> None:
        """End the broker in good order."""
        self._started().stop()

    def kill(self) -> None:
        """End it at once; whoever is connected gets a reset."""
        self._started().kill()

    def pause(self) -> None:
        """Freeze its loop."""
        self._started().pause()

    def resume(self) -> None:
        """Let it go on."""
        self._started().resume()

    def wipe(self) -> None:
        """Forget all data, and put the clock right."""
        self.machine.wipe()

    def close(self) -> None:
        """Stop in good order what is kept; what nobody will ever see again just ends."""
        try:
            if self._thread is not None and self.machine.disk.is_kept:
                self._thread.stop()
            elif self._thread is not None:
                self._thread.kill(resets_connections=False)
        finally:
            self.machine.close()

    # What only a neighbour can do.

    def ask(self, api: ApiKey, request: Struct) -> Any:
        """The broker's answer, without a connection; faults do not concern it."""
        return self.run(partial(_answer, api, request))

    def run(self, ask: Callable[[Broker], Coroutine[Any, Any, T]]) -> T:
        """Have something done on the broker's loop."""
        return self._started().run(ask)

    def look(self, look: Callable[[Broker], T]) -> T:
        """Something about the broker, read on its loop."""

        async def read(broker: Broker) -> T:
            return look(broker)

        return self.run(read)

    def catch_up(self) -> None:
        """The clock was moved: return when what follows has happened."""
        self.run(self._catch_up)

    def links_changed(self) -> None:
        """The network between brokers was cut or healed."""
        if self._thread is not None:
            self._thread.links_changed()

    def silence_clients(self) -> None:
        """Let nothing of clients through until ``hear_clients``."""
        silence = self._silence

        async def begin(broker: Broker) -> None:
            silence.is_kept = True

        self.run(begin)

    def hear_clients(self) -> None:
        """Let everything through again."""
        silence = self._silence

        async def end(broker: Broker) -> None:
            silence.end()

        if silence.is_kept and self.is_running and not self.is_paused:
            self.run(end)

    def log_text(self) -> str:
        """What the brokers here have logged."""
        return self._log.text()

    async def _catch_up(self, broker: Broker) -> None:
        thread = self._started()
        await thread.settle(broker)
        for _ in range(EXPIRY_ROUNDS):
            for partition in list(broker.replicas):
                await broker.upkeep.expire(partition)
            await thread.settle(broker)

    def _started(self) -> BrokerThread:
        if self._thread is None:
            raise UsageError("The broker is not running: start it, or use it in a with statement.")
        return self._thread

    def _new_interceptor(self, dispatch: Requests) -> Interceptor:
        return Interceptor(
            dispatch,
            faults=self._faults,
            logs=self._requests,
            silence=self._silence,
            name_of=self._topic_name,
        )

    def _topic_name(self, topic_id: bytes) -> str | None:
        """The name of a topic, on the broker's own loop."""
        if not self.is_running:
            return None  # clients that come too early are sent away
        found = self._started().broker.image.topics_by_id.get(TopicId(topic_id))
        return None if found is None else found.name


async def _answer(api: ApiKey, request: Struct, broker: Broker) -> Any:
    return await awaited_handler(api)(broker, request, header_for(api))
