"""Connections to a cluster that are used again and again, by one request at a time.

Between two requests brokers may hang up: they were restarted, or nobody said anything for too long. Whoever
comes next must not be told of it.
"""

import selectors
from collections.abc import Sequence

from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address, Connection

CLIENT_ID = "penstock-gateway"


class LentCluster:
    """A cluster and all connections that were made to it."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._connections: list[Connection] = []
        self.cluster = Cluster.connect(addresses, connect=self._connect)

    def drop_broken(self) -> None:
        """Hang up where the other side has: the next question then makes a new connection.

        Nobody is asked anything between two requests, so that whatever there is to read is an end.
        """
        with selectors.DefaultSelector() as selector:
            for connection in self._connections:
                if not connection.is_closed:
                    selector.register(connection, selectors.EVENT_READ, connection)
            for key, _ in selector.select(0):
                key.data.close()

    def close(self) -> None:
        """Hang up on everybody."""
        self.cluster.close()

    def _connect(self, address: Address) -> Connection:
        made = Connection(address, client_id=CLIENT_ID)
        self._connections = [each for each in self._connections if not each.is_closed] + [made]
        return made
