"""One end of a simulated connection, as asyncio's protocols know it.

What is written goes to the kernel as far as that has room; the rest waits in the process, where it counts
against the write buffer's limits and is lost with the process. Both flavours of protocol are served: with a
buffer of their own, and without.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, cast

from penstock.sim.network.pipe import Pipe
from penstock.sim.runtime.loop import SimulatedLoop

HIGH_WATER_BYTES = 64 * 1024

Bytes = bytes | bytearray | memoryview


class SimulatedTransport(asyncio.Transport):
    """The end that one process holds."""

    def __init__(
        self, loop: SimulatedLoop, host: str, peer: tuple[str, int], *, out: Pipe, into: Pipe
    ) -> None:
        super().__init__()
        self.loop = loop
        self.host = host
        self._peer = peer
        self.out = out
        self.into = into
        self._protocol: asyncio.BaseProtocol = asyncio.BaseProtocol()
        self._backlog = bytearray()
        self._high = HIGH_WATER_BYTES
        self._low = HIGH_WATER_BYTES // 4
        self._is_write_paused = False
        self._is_closing = False
        self._is_lost = False
        self._eof_is_due = False
        self.is_read_paused = False
        out.sender, into.receiver = self, self

    @property
    def is_gone(self) -> bool:
        """Whether no process holds this end any more."""
        return self._is_lost or self.loop.is_dead

    # What protocols ask.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Only where the other end is; there is no socket."""
        return self._peer if name == "peername" else default

    def is_closing(self) -> bool:
        """Whether it is closed, or will be once everything has been sent."""
        return self._is_closing

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Who is told from now on."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Who is told."""
        return self._protocol

    def pause_reading(self) -> None:
        """Leave what arrives in the kernel."""
        self.is_read_paused = True

    def resume_reading(self) -> None:
        """Read on."""
        self.is_read_paused = False
        self.into.pump()

    def is_reading(self) -> bool:
        """Whether what arrives is read."""
        return not self.is_read_paused and not self._is_closing

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """When the protocol is told to pause, and when to go on."""
        self._high = HIGH_WATER_BYTES if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        """Bytes that the kernel has not taken yet."""
        return len(self._backlog)

    def write(self, data: Bytes) -> None:
        """Send, in order."""
        if self.is_gone or self._is_closing or self._eof_is_due:
            return
        taken = 0 if self._backlog else min(len(data), self.out.room_bytes)
        if taken:
            self.out.push(memoryview(data)[:taken])
        if taken < len(data):
            self._backlog += memoryview(data)[taken:]
            if len(self._backlog) > self._high and not self._is_write_paused:
                self._is_write_paused = True
                self._protocol.pause_writing()

    def writelines(self, list_of_data: Iterable[Bytes]) -> None:
        """Send all, in order."""
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        """One direction can end alone."""
        return True

    def write_eof(self) -> None:
        """Say that nothing more comes; reading goes on."""
        if not self._eof_is_due and not self._is_closing:
            self._eof_is_due = True
            if not self._backlog:
                self.out.finish()

    def close(self) -> None:
        """End the connection once everything has been sent."""
        if not self._is_closing:
            self._is_closing = True
            self.is_read_paused = True
            if not self._backlog:
                self._lose(None)

    def abort(self) -> None:
        """End the connection now."""
        self._is_closing = True
        self._backlog.clear()
        self._lose(None)

    # What the network does to it.

    def receive(self, data: bytearray) -> None:
        """Bytes have arrived; the protocol takes them as its kind does."""
        position = 0
        while position < len(data) and not self._is_lost:
            position += self._hand_over(memoryview(data)[position:])

    def receive_end(self) -> None:
        """The other side has ended its direction."""
        if self._is_lost:
            return
        keep_open = cast(Any, self._protocol).eof_received()
        if not keep_open:
            self.close()

    def wake_writer(self) -> None:
        """The kernel may have room again."""
        if self._backlog and not self.is_gone:
            self.loop.world.soon(self.loop, self._drain)

    def reset(self) -> None:
        """The other side has broken the connection off."""
        if self.is_gone:
            return
        self._backlog.clear()
        self.out.discard()
        self._is_closing = True
        self._lose(ConnectionResetError(104, "Connection reset by peer"))

    def drop(self) -> None:
        """The process has died: its kernel closes this end for it."""
        if not self._is_lost:
            self._is_lost = True
            self._end_both_ways()

    def _hand_over(self, data: memoryview) -> int:
        protocol = cast(Any, self._protocol)
        if not isinstance(self._protocol, asyncio.BufferedProtocol):
            protocol.data_received(bytes(data))
            return len(data)
        buffer = protocol.get_buffer(-1)
        count = min(len(buffer), len(data))
        memoryview(buffer).cast("B")[:count] = data[:count]
        protocol.buffer_updated(count)
        return count

    def _drain(self) -> None:
        if self._is_lost or not self._backlog:
            return
        count = min(len(self._backlog), self.out.room_bytes)
        if count:
            self.out.push(self._backlog[:count])
            del self._backlog[:count]
        if self._is_write_paused and len(self._backlog) <= self._low:
            self._is_write_paused = False
            self._protocol.resume_writing()
        if not self._backlog:
            self._finish_writing()

    def _finish_writing(self) -> None:
        if self._is_closing:
            self._lose(None)
        elif self._eof_is_due:
            self.out.finish()

    def _lose(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        self._end_both_ways()
        self.loop.call_soon(cast(Any, self._protocol).connection_lost, error)

    def _end_both_ways(self) -> None:
        """Closing a socket with unread bytes resets the connection; otherwise the other side sees its end."""
        if self.into.has_unread:
            self.out.discard()
            self.into.refuse()
        else:
            self.out.finish()
