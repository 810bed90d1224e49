"""A schema registry for tests, beside a broker of theirs; a gateway, so it needs ``penstock[gateway]``."""

from typing import TYPE_CHECKING, Protocol, Self

from penstock.model.errors import UsageError
from penstock.testing.context import OPEN, Context

if TYPE_CHECKING:
    from penstock.gateway.server import GatewayServer


class HasBootstrapServers(Protocol):
    """A broker or a cluster."""

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect."""


class Registry(Context):
    """A real registry under Confluent's API on a free port of loopback, for the length of a ``with`` block.

    Schemas are kept in the topic ``_schemas`` of ``broker``, so they go when it goes.
    """

    def __init__(self, broker: HasBootstrapServers) -> None:
        self._broker = broker
        self._server: GatewayServer | None = None

    @property
    def url(self) -> str:
        """What clients of registries want to know."""
        if self._server is None:
            raise UsageError("This registry is not started: use it in a with block, or start() it.")
        return self._server.url

    def start(self) -> Self:
        """Start it; returns when clients may connect."""
        from penstock.gateway.server import GatewayServer
        from penstock.gateway.settings import GatewaySettings

        if self._server is not None:
            raise UsageError(f"The registry at {self.url} is running already.")
        settings = GatewaySettings(bootstrap_servers=self._broker.bootstrap_servers, port=0)
        self._server = GatewayServer(settings)
        OPEN.add(self)
        self._server.start()
        return self

    def close(self) -> None:
        """End it; may be called again."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
