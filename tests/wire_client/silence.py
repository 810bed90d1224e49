"""Addresses where connections are taken and nothing is ever answered, as by a broker that hangs."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.wire_client.connection import Address, Connection

_SILENCE_SECONDS = 0.05


@contextmanager
def silent_address() -> Iterator[Address]:
    """The system takes connections for a process that does not."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Address(*listener.getsockname())


class Knocks:
    """Makes connections, and remembers where; who is known to be ``silent`` is not waited for."""

    def __init__(self, *silent: Address) -> None:
        self._silent = silent
        self.addresses: list[Address] = []

    def __call__(self, address: Address) -> Connection:
        self.addresses.append(address)
        if address in self._silent:
            return Connection(address, answer_seconds_max=_SILENCE_SECONDS)
        return Connection(address)
