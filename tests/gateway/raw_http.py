"""Bytes to a gateway and back, for requests that no client would send."""

import socket
from urllib.parse import urlsplit

SECONDS_MAX = 15.0


def exchange(url: str, request: bytes, *, seconds: float = SECONDS_MAX) -> bytes:
    """What comes back until the gateway hangs up, or until nothing comes for a while."""
    with connect(url, seconds=seconds) as connection:
        connection.sendall(request)
        return read_to_end(connection)


def connect(url: str, *, seconds: float = SECONDS_MAX) -> socket.socket:
    """A connection to the gateway at ``url``."""
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=seconds)


def read_to_end(connection: socket.socket) -> bytes:
    """Everything that still comes."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def status_of(answer: bytes) -> int:
    """The number in the first line."""
    return int(answer.split(b" ", 2)[1])
