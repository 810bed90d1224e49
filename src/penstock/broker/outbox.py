"""The sending half of a connection: replies in order, file ranges without copying them through Python.

A part is either bytes or a ``FilePiece``. Small parts of one turn of the loop are joined into one write;
where much is queued, the kernel gathers them from where they lie, on the socket itself as with files. A
file piece goes out by ``os.sendfile`` straight on the socket, whenever the transport's own buffer is empty;
when the socket is full, the next piece of the file is read and handed to the transport, whose
``resume_writing`` then says when to go on. (The transport owns the descriptor's writability, and
``loop.sendfile`` reached only half of this speed.) Where there is no plain socket, as under TLS or in a
simulator, everything goes by reading.

At most one transport buffer's worth is copied ahead; the rest waits as references. Those to memory keep it
from being freed, and slow readers may be many: so they are counted where batches come from, the tail cache.
"""

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

from penstock.model.errors import StorageError
from penstock.storage.log_reader import FilePiece
from penstock.storage.tail_cache import TailCache

Bytes = bytes | bytearray | memoryview
Part = Bytes | FilePiece

JOIN_BYTES_MAX = 64 * 1024
"""Parts larger than this are written by themselves instead of being joined with their neighbours."""

GATHER_PARTS_MAX = 256
"""How many parts the kernel is handed at once; it takes 1,024 at most."""

READ_AHEAD_BYTES = 128 * 1024
"""How much of a file is read at once where sendfile cannot be used; more than the transport's high mark."""

SENDFILE_BYTES_MAX = 4 * 1024 * 1024
"""One turn of the loop sends no more than this to one connection, so that others get theirs."""


class Outbox:
    """Orders what a connection still has to send."""

    __slots__ = (
        "_flush_is_scheduled",
        "_lent_bytes",
        "_loop",
        "_parts",
        "_socket_fd",
        "_tail_cache",
        "_transport",
        "is_paused",
        "queued_bytes",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, tail_cache: TailCache
    ) -> None:
        self._loop = loop
        self._tail_cache = tail_cache
        # Of what is queued, that which is in memory.
        self._lent_bytes = 0
        self._transport = transport
        self._parts: deque[Part] = deque()
        self._flush_is_scheduled = False
        self._socket_fd = _plain_socket_fd(transport)
        self.is_paused = False
        #: Of replies, and not handed to the transport yet.
        self.queued_bytes = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything has been handed to the kernel."""
        return not self._parts and self._transport.get_write_buffer_size() == 0

    @property
    def unsent_bytes(self) -> int:
        """What the kernel has not taken yet, wherever it waits."""
        return self.queued_bytes + self._transport.get_write_buffer_size()

    def put(self, parts: Sequence[Part]) -> None:
        """Queue the parts of one reply; they leave at the end of this turn of the loop."""
        lent_bytes = 0
        for part in parts:
            if isinstance(part, FilePiece):
                self.queued_bytes += part.length
            else:
                lent_bytes += len(part)
        self.queued_bytes += lent_bytes
        self._lend(lent_bytes)
        self._parts.extend(parts)
        if not self._flush_is_scheduled and not self.is_paused:
            self._flush_is_scheduled = True
            self._loop.call_soon(self._flush)

    def pause(self) -> None:
        """The transport's buffer is full."""
        self.is_paused = True

    def resume(self) -> None:
        """The transport's buffer has drained."""
        self.is_paused = False
        self._flush()

    def discard(self) -> None:
        """The connection is gone."""
        self._parts.clear()
        self.queued_bytes = 0
        self._lend(-self._lent_bytes)

    def _flush(self) -> None:
        self._flush_is_scheduled = False
        budget = SENDFILE_BYTES_MAX
        while self._parts and not self.is_paused and not self._transport.is_closing():
            if budget <= 0:
                self._flush_is_scheduled = True
                self._loop.call_soon(self._flush)
                return
            part = self._parts[0]
            if isinstance(part, FilePiece):
                budget -= self._send_file(part)
            elif self.queued_bytes > JOIN_BYTES_MAX and (socket_fd := self._free_socket()) is not None:
                self._send_gathered(socket_fd)
            else:
                self._send_joined()

    def _free_socket(self) -> int | None:
        """The socket, unless the transport has something to send before us."""
        return None if self._transport.get_write_buffer_size() else self._socket_fd

    def _send_gathered(self, socket_fd: int) -> None:
        """Have the kernel fetch many parts from where they lie; more than it has room for goes joined."""
        parts = _bytes_at_head(self._parts)
        try:
            sent = os.writev(socket_fd, parts)
        except BlockingIOError:
            sent = 0
        except OSError:
            # The peer is gone.
            self._transport.abort()
            return
        self.queued_bytes -= sent
        self._lend(-sent)
        for part in parts:
            if sent < len(part):
                self._parts[0] = memoryview(part)[sent:]
                self._send_joined()
                return
            sent -= len(part)
            self._parts.popleft()

    def _send_joined(self) -> None:
        """Join the small parts at the head and write them at once."""
        parts = self._parts
        batch: list[Bytes] = []
        size = 0
        while parts and size < JOIN_BYTES_MAX:
            part = parts[0]
            if isinstance(part, FilePiece) or (batch and len(part) > JOIN_BYTES_MAX):
                break
            batch.append(part)
            size += len(part)
            parts.popleft()
        self.queued_bytes -= size
        self._lend(-size)
        self._transport.write(batch[0] if len(batch) == 1 else b"".join(batch))

    def _send_file(self, piece: FilePiece) -> int:
        """Send some of the file piece at the head; return how much."""
        fd, socket_fd = piece.file.fileno(), self._free_socket()
        if socket_fd is None or fd is None:
            return self._send_file_by_reading(piece)
        try:
            sent = os.sendfile(socket_fd, fd, piece.position, min(piece.length, SENDFILE_BYTES_MAX))
        except BlockingIOError:
            return self._send_file_by_reading(piece)
        except OSError:
            # The peer is gone, or the file shrank under us: either way this reply cannot be completed.
            self._transport.abort()
            return piece.length
        if sent == 0:
            self._transport.abort()
        self._consume(piece, sent)
        return sent

    def _send_file_by_reading(self, piece: FilePiece) -> int:
        try:
            data = piece.file.read(piece.position, min(piece.length, READ_AHEAD_BYTES))
        except StorageError:
            # Some of the reply may be gone already: all that is left to say is that there will be no more.
            self._transport.abort()
            return piece.length
        if not data:
            self._transport.abort()
        self._consume(piece, len(data))
        self._transport.write(data)
        return len(data)

    def _lend(self, count: int) -> None:
        self._lent_bytes += count
        self._tail_cache.lent_bytes += count

    def _consume(self, piece: FilePiece, count: int) -> None:
        self.queued_bytes -= count
        if count == piece.length:
            self._parts.popleft()
        else:
            self._parts[0] = FilePiece(piece.file, piece.position + count, piece.length - count)


def _bytes_at_head(parts: Iterable[Part]) -> list[Bytes]:
    head: list[Bytes] = []
    for part in islice(parts, GATHER_PARTS_MAX):
        if isinstance(part, FilePiece):
            break
        head.append(part)
    return head


def _plain_socket_fd(transport: asyncio.Transport) -> int | None:
    if transport.get_extra_info("sslcontext") is not None:
        return None
    socket = transport.get_extra_info("socket")
    return None if socket is None else int(socket.fileno())
