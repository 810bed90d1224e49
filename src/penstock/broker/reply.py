"""What a request is answered with: filled by whoever serves it, sent by its connection in its turn."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.broker.metrics.traffic import Traffic
from penstock.broker.outbox import Part
from penstock.model.connected_client import ConnectedClient
from penstock.wire.framing import RequestHeader

if TYPE_CHECKING:
    from penstock.broker.connection import Connection


class Reply:
    """The place in line of one request; filled once, sent when all before it have been."""

    __slots__ = (
        "_connection",
        "arrived_at",
        "frame_bytes",
        "header",
        "is_done",
        "is_orphaned",
        "is_refused",
        "parts",
        "when_abandoned",
        "when_crowded",
    )

    def __init__(
        self, connection: "Connection", header: RequestHeader, frame_bytes: int, *, arrived_at: float
    ) -> None:
        self._connection = connection
        self.header = header
        self.frame_bytes = frame_bytes
        self.arrived_at = arrived_at
        self.is_done = False
        #: Whether it ends with its connection instead of an answer.
        self.is_refused = False
        #: Whether the connection has ended, and the request holds its memory until it is answered anyhow:
        #: what it brought is still in use.
        self.is_orphaned = False
        self.parts: list[Part] = []
        #: Called when another request waits for this one to be answered.
        self.when_crowded: Callable[[], None] | None = None
        #: Called when the connection has ended before this was answered.
        self.when_abandoned: Callable[[], None] | None = None

    @property
    def client(self) -> ConnectedClient:
        """Who asks."""
        return self._connection.client

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody waits for this reply any more."""
        return self._connection.is_closed or self._connection.has_hung_up

    @property
    def traffic(self) -> Traffic:
        """Where what is served is counted."""
        return self._connection.traffic

    def send(self, parts: list[Part]) -> None:
        """Answer with these bytes; no parts at all means that the request gets no answer."""
        self.parts = parts
        self.is_done = True
        # They know us and we know them: let go, or all of it stays until the next collection.
        self.when_abandoned = self.when_crowded = None
        if not self._end_as_orphan():
            self._connection.reply_done()

    def when_connection_is_lost(self, callback: Callable[[], None]) -> None:
        """Have ``callback`` called once when the connection has ended, however; soon, if it has already.

        A connection keeps one: the next request that comes with another takes its place.
        """
        self._connection.when_lost(callback)

    def hold_memory(self) -> Callable[[], None]:
        """Count what the request brought beyond its answer as well, until what this returns is called."""
        return self._connection.hold_memory(self.frame_bytes)

    def close_connection(self, reason: str) -> None:
        """There is no answer that this request could get: end the conversation."""
        self.is_refused = True
        if not self._end_as_orphan():
            self._connection.close(reason)

    def _end_as_orphan(self) -> bool:
        """Let go of the memory, if the connection is gone and has left it to us."""
        if not self.is_orphaned:
            return False
        self.is_orphaned = False
        self._connection.orphan_done(self)
        return True
