"""Addresses of which any will do, tried in turn: whoever failed last is tried last.

A broker that hangs keeps its port open, so that every attempt there costs a whole timeout. One such address
must not stand between a client and the brokers that are well, not even the second time.
"""

from collections.abc import Callable, Iterable

from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.errors import BrokenConnectionError, UnreachableError, WireClientError

Connect = Callable[[Address], Connection]
"""Makes a connection to a broker."""


class TriedAddresses:
    """Makes connections to the first address that answers, and remembers which did not."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        #: Whoever failed last is last. Holds no address that was not wanted last time.
        self._failed: list[Address] = []

    def reach(self, addresses: Iterable[Address]) -> Connection:
        """A connection to one of these; each is tried once at most."""
        wanted = dict.fromkeys(addresses)
        self._failed = [address for address in self._failed if address in wanted]
        problem: WireClientError | None = None
        for address in [*(each for each in wanted if each not in self._failed), *self._failed]:
            try:
                connection = self._connect(address)
            except (UnreachableError, BrokenConnectionError) as error:
                self.note_failure(address)
                problem = error
            else:
                self._forget_failure(address)
                return connection
        raise problem or UnreachableError("No address of a broker was given.")

    def note_failure(self, address: Address) -> None:
        """A connection that was made there broke, or none could be made."""
        self._forget_failure(address)
        self._failed.append(address)

    def _forget_failure(self, address: Address) -> None:
        self._failed = [each for each in self._failed if each != address]
