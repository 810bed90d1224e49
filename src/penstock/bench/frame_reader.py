"""Whole frames out of a socket's stream of bytes."""

import socket
import struct
from collections.abc import Iterator

from penstock.bench.errors import BenchError

_LENGTH = struct.Struct(">i")
_READ_BYTES = 1024 * 1024


class FrameReader:
    """Collects bytes until answers are complete; made for answers that are small beside a mebibyte."""

    def __init__(self, source: socket.socket) -> None:
        self._socket = source
        self._pending = b""

    def read(self) -> Iterator[memoryview]:
        """Receive once, then every answer that is now complete, without its length."""
        received = self._socket.recv(_READ_BYTES)
        if not received:
            raise BenchError("The broker closed the connection.")
        data = memoryview(self._pending + received)
        position = 0
        while position + _LENGTH.size <= len(data):
            following = position + _LENGTH.size + _LENGTH.unpack_from(data, position)[0]
            if following > len(data):
                break
            yield data[position + _LENGTH.size : following]
            position = following
        self._pending = bytes(data[position:])
