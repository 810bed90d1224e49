"""A listening socket of the simulated network, shaped as asyncio's servers are."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.sim.runtime.loop import SimulatedLoop

if TYPE_CHECKING:
    from penstock.sim.network.network import Network


class ListeningSocket:
    """As much of a socket as a server shows."""

    def __init__(self, host: str, port: int) -> None:
        self._name = (host, port)

    def getsockname(self) -> tuple[str, int]:
        """Where it listens."""
        return self._name


class SimulatedServer:
    """Holds a port; connections are refused until it serves."""

    def __init__(
        self,
        network: "Network",
        loop: SimulatedLoop,
        port: int,
        factory: Callable[[], asyncio.BaseProtocol],
        *,
        is_serving: bool,
    ) -> None:
        self._network = network
        self.loop = loop
        self.port = port
        self.make_protocol = factory
        self._is_serving = is_serving
        self._is_closed = False

    @property
    def sockets(self) -> tuple[ListeningSocket, ...]:
        """The one it has."""
        return () if self._is_closed else (ListeningSocket(self.loop.name, self.port),)

    def is_serving(self) -> bool:
        """Whether connections are taken."""
        return self._is_serving and not self._is_closed and not self.loop.is_dead

    async def start_serving(self) -> None:
        """Take connections."""
        self._is_serving = True

    def close(self) -> None:
        """Give the port back."""
        self._is_closed = True
        self._network.forget_server(self)

    async def wait_closed(self) -> None:
        """There is nothing to wait for."""
