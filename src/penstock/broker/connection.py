"""One client's connection: requests in, replies out, strictly in the order of the requests.

Kafka handles one request of a connection at a time. So do we, with two exceptions that make pipelining
worth its name. Produce requests may follow one another while earlier ones wait for their flush: they are
appended in the order they came, so order holds, and one flush serves all of them. So may Raft's requests,
since a leader sends on before what it sent is on the follower's disk.

The connection decides nothing about a request's content. It bounds what it holds: queued requests, bytes of
requests (shared with all connections), bytes of replies; at a bound it stops reading its socket.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from penstock.broker.clock import Clock
from penstock.broker.connection_limits import ConnectionLimits
from penstock.broker.frames import FrameReader
from penstock.broker.metrics.traffic import Traffic
from penstock.broker.outbox import Outbox
from penstock.broker.reply import Reply
from penstock.broker.request_memory import RequestMemory
from penstock.model.connected_client import ConnectedClient
from penstock.model.errors import DecodeError
from penstock.model.limits import PIPELINED_REQUESTS_PER_CONNECTION_MAX
from penstock.storage.tail_cache import TailCache
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader, decode_request_header

logger = logging.getLogger(__name__)

OUTPUT_BYTES_MAX = 64 * 1024 * 1024
"""Replies a client has not read yet; beyond it no further request of that client is looked at."""

WRITE_BUFFER_BYTES = 64 * 1024

FRAME_DEADLINE_SECONDS = 30.0
"""A frame that has begun must be complete within this time, plus what its size takes at the slowest rate."""

FRAME_BYTES_PER_SECOND_MIN = 64 * 1024

WRITE_STALL_SECONDS = 60.0
"""A client that reads nothing of a waiting reply for this long is closed."""

SHORTAGE_SECONDS = 2.0
"""How long a client may keep others waiting for memory by not reading, or not sending what it began."""

MODEST_BYTES_MAX = 64 * 1024
"""A connection that holds no more of an unfinished request than this is served even when memory is short."""

PIPELINES: Mapping[int, str] = {
    ApiKey.PRODUCE: "produce",
    ApiKey.RAFT_VOTE: "raft",
    ApiKey.RAFT_APPEND_ENTRIES: "raft",
    ApiKey.RAFT_INSTALL_SNAPSHOT: "raft",
    ApiKey.RAFT_TIMEOUT_NOW: "raft",
    ApiKey.RAFT_OBSERVE: "raft",
}
"""Requests that may begin while others of the same pipeline are not answered yet."""


KEPT_UNTIL_ANSWERED = frozenset({ApiKey.PRODUCE})
"""Requests whose frames are in use until they are answered, also when nobody waits for that any more: what
they brought is still to be written. Clients that leave and come again must not pile it up."""


class Requests(Protocol):
    """Whoever serves requests."""

    def serve(self, header: RequestHeader, frame: bytearray, reply: Reply) -> None:
        """Serve one request; the reply may be filled now or later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all connections of a listener share."""

    requests: Requests
    limits: ConnectionLimits
    memory: RequestMemory
    scratch: bytearray
    frame_bytes_max: int
    idle_seconds_max: float
    clock: Clock
    connections: "dict[Connection, None]"
    traffic: Traffic = field(default_factory=Traffic)
    #: Where batches come from that are sent from memory.
    tail_cache: TailCache = field(default_factory=lambda: TailCache(0))


class Connection(asyncio.BufferedProtocol):
    """The protocol object of one socket."""

    def __init__(self, surroundings: Surroundings, loop: asyncio.AbstractEventLoop) -> None:
        self._around = surroundings
        self.traffic = surroundings.traffic
        self._loop = loop
        self._reader = FrameReader(surroundings.scratch, surroundings.frame_bytes_max)
        #: Requests that wait for their turn, and when they were complete.
        self._queue: deque[tuple[RequestHeader, bytearray, float]] = deque()
        self._in_flight: deque[Reply] = deque()
        self._transport: asyncio.Transport | None = None
        self._outbox: Outbox | None = None
        self._held_bytes = 0  # of the frame in progress, as counted in the shared memory
        self._is_reading = True
        self._last_activity = surroundings.clock.monotonic()
        self._frame_since: float | None = None
        self._stalled_since: float | None = None
        self._stalled_bytes = 0
        self._on_lost: Callable[[], None] | None = None
        self._is_starting = False
        self.client = ConnectedClient()
        self._is_finishing = False
        self.is_admitted = False
        self.has_hung_up = False
        self.is_closed = False

    # The transport's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has called: admit it, or close at once."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._outbox = Outbox(self._loop, transport, self._around.tail_cache)
        transport.set_write_buffer_limits(high=WRITE_BUFFER_BYTES, low=0)
        self.client = _client_of(transport)
        reason = self._around.limits.admit(self.client.address, self._around.clock.monotonic())
        if reason is not None:
            self.close(f"refused by {reason}")
            return
        self.is_admitted = True
        self.traffic.connections += 1
        self._around.connections[self] = None

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the transport may put what it receives."""
        return self._reader.buffer(may_grow=self._around.memory.may_grow(self))

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have arrived."""
        if self._is_finishing:
            return
        now = self._last_activity = self._around.clock.monotonic()
        try:
            for frame in self._reader.received(nbytes):
                self._queue.append((decode_request_header(frame), frame, now))
                self._around.memory.hold_whole(len(frame), queued=1)
        except DecodeError as error:
            self.close(str(error))
            return
        self._note_partial_frame()
        self._start_requests()
        self._adjust_reading()

    def pause_writing(self) -> None:
        """The client reads slower than we write."""
        assert self._outbox is not None
        self._outbox.pause()
        self._stalled_since = self._around.clock.monotonic()
        self._stalled_bytes = self._outbox.unsent_bytes

    def resume_writing(self) -> None:
        """The client has caught up."""
        assert self._outbox is not None
        self._stalled_since = None
        self._last_activity = self._around.clock.monotonic()
        self._outbox.resume()
        self._start_requests()
        self._adjust_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The conversation is over, however it ended."""
        self.is_closed = True
        abandoned, self._in_flight = self._in_flight, deque()
        memory = self._around.memory
        for reply in abandoned:
            is_ended = reply.is_done or reply.is_refused
            reply.is_orphaned = not is_ended and reply.header.api_key in KEPT_UNTIL_ANSWERED
        memory.leave(self)
        memory.release(self._held_bytes)
        memory.release_whole(
            sum(len(frame) for _, frame, _ in self._queue)
            + sum(reply.frame_bytes for reply in abandoned if not reply.is_orphaned),
            queued=len(self._queue),
        )
        self._held_bytes = 0
        self._queue.clear()
        if self._outbox is not None:
            self._outbox.discard()
        if self.is_admitted:
            self._around.limits.leave(self.client.address)
            del self._around.connections[self]
        if self._on_lost is not None:
            on_lost, self._on_lost = self._on_lost, None
            on_lost()
        for reply in abandoned:
            if reply.when_abandoned is not None:
                reply.when_abandoned()

    # The requests' side.

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of this client is under way."""
        return not self._in_flight and not self._queue and (self._outbox is None or self._outbox.is_empty)

    @property
    def is_owed_an_answer(self) -> bool:
        """Whether something more than a fetch that waits for news would be cut short by closing."""
        has_unsent = self._outbox is not None and not self._outbox.is_empty
        return has_unsent or any(reply.header.api_key != ApiKey.FETCH for reply in self._in_flight)

    @property
    def apis_in_flight(self) -> list[int]:
        """The API of each request that is being served, or waits to be answered."""
        return [reply.header.api_key for reply in self._in_flight]

    def reply_done(self) -> None:
        """Send every reply whose turn has come, then look at what waits."""
        if self.is_closed or self.has_hung_up:
            return
        outbox = self._outbox
        assert outbox is not None
        now, apis = self._around.clock.monotonic(), self.traffic.apis
        while self._in_flight and self._in_flight[0].is_done:
            reply = self._in_flight.popleft()
            self._around.memory.release_whole(reply.frame_bytes)
            unsent_bytes = outbox.queued_bytes
            if reply.parts:
                outbox.put(reply.parts)
                reply.parts = []  # whoever still holds the reply must not hold what was sent with it
            api = apis.get(reply.header.api_key) or self.traffic.api(reply.header.api_key)
            api.answered(now - reply.arrived_at, reply.frame_bytes, outbox.queued_bytes - unsent_bytes)
        if self._queue:
            self._start_requests()
        if not self._is_reading:
            self._adjust_reading()

    def orphan_done(self, reply: Reply) -> None:
        """A request that outlived this connection lets go of its memory."""
        self._around.memory.release_whole(reply.frame_bytes)

    def hold_memory(self, byte_count: int) -> Callable[[], None]:
        """Count memory that somebody needs longer than a request of this connection is under way."""
        memory = self._around.memory
        memory.hold_whole(byte_count)
        return partial(memory.release_whole, byte_count)

    def when_lost(self, callback: Callable[[], None]) -> None:
        """Have ``callback`` called when this connection has ended, instead of the one before."""
        if self.is_closed:
            self._loop.call_soon(callback)
        else:
            self._on_lost = callback

    def finish(self) -> None:
        """Look at nothing more that comes; what is under way is still answered."""
        self._is_finishing = True
        unserved_bytes = sum(len(frame) for _, frame, _ in self._queue)
        self._around.memory.release_whole(unserved_bytes, queued=len(self._queue))
        self._queue.clear()
        self._adjust_reading()

    def hang_up(self) -> None:
        """Say that nothing more will come, and leave it to the client to close.

        Closing a socket on which something unread has arrived resets it, and a reset takes from the client
        the last replies, which it may not have read yet.
        """
        if self._transport is not None and not self._transport.is_closing():
            self.has_hung_up = True
            if self._outbox is not None:
                self._outbox.discard()  # what had no turn before the time was up
            self._transport.write_eof()

    def close(self, reason: str) -> None:
        """Drop the connection, as Kafka does with what it cannot answer."""
        if self._transport is not None and not self._transport.is_closing():
            logger.info("connection closed", extra={"address": self.client.address, "reason": reason})
            self._transport.abort()

    def close_if_overdue(self, now: float) -> None:
        """Called about once a second: end connections that keep us waiting."""
        if self._stalled_since is not None:
            self._close_if_stalled(now)
        elif self._frame_since is not None and self._is_reading:
            self._close_if_slow(now)
        elif self.is_quiet and now - self._last_activity > self._around.idle_seconds_max:
            self.close("idle for longer than connections.max.idle.ms")

    def _close_if_slow(self, now: float) -> None:
        assert self._frame_since is not None
        if self._around.memory.is_short and now - self._last_activity > SHORTAGE_SECONDS:
            self.close("an unfinished request kept others waiting for memory")
        else:
            allowed = FRAME_DEADLINE_SECONDS + self._reader.held_bytes / FRAME_BYTES_PER_SECOND_MIN
            if now - self._frame_since > allowed:
                self.close(f"a request was not complete within {allowed:.0f} s")

    def _close_if_stalled(self, now: float) -> None:
        assert self._outbox is not None
        assert self._stalled_since is not None
        allowed = SHORTAGE_SECONDS if self._queue and self._around.memory.is_short else WRITE_STALL_SECONDS
        unsent_bytes = self._outbox.unsent_bytes  # a large part may be in the transport's hands as a whole
        if unsent_bytes != self._stalled_bytes:
            self._stalled_since, self._stalled_bytes = now, unsent_bytes
        elif now - self._stalled_since > allowed:
            self.close(f"replies were not read for {allowed:.0f} s")

    def _start_requests(self) -> None:
        """Start whatever may begin now.

        A request that is answered at once leads back here, through ``reply_done``. Whoever is at it already
        takes the next one then: the stack must not grow with every request that a client sends in one go.
        """
        if self._is_starting:
            return
        self._is_starting = True
        try:
            self._start_in_turn()
        finally:
            self._is_starting = False

    def _start_in_turn(self) -> None:
        queue = self._queue
        while queue and not self.is_closed:
            if self._may_start(queue[0][0]):
                header, frame, arrived_at = queue.popleft()
                self._around.memory.release_whole(0, queued=1)
                reply = Reply(self, header, len(frame), arrived_at=arrived_at)
                self._in_flight.append(reply)
                self._around.requests.serve(header, frame, reply)
            elif not self._make_way():
                return

    def _make_way(self) -> bool:
        """Tell the first request that another one waits; answers whether that has let it go."""
        if not self._in_flight:
            return False
        first = self._in_flight[0]
        if first.when_crowded is not None:
            first.when_crowded()
        return not self._in_flight or self._in_flight[0] is not first

    def _may_start(self, header: RequestHeader) -> bool:
        assert self._outbox is not None
        if self._outbox.queued_bytes > OUTPUT_BYTES_MAX:
            return False
        if not self._in_flight:
            return True
        pipeline = PIPELINES.get(header.api_key)
        return (
            pipeline is not None
            and pipeline == PIPELINES.get(self._in_flight[-1].header.api_key)
            and len(self._in_flight) < PIPELINED_REQUESTS_PER_CONNECTION_MAX
        )

    def _note_partial_frame(self) -> None:
        """Count the memory of a frame in progress, and remember since when it is."""
        if self._reader.is_idle:
            self._frame_since = None
        elif self._frame_since is None or self._reader.held_bytes < self._held_bytes:
            self._frame_since = self._last_activity
        grown = self._reader.held_bytes - self._held_bytes
        self._held_bytes += grown
        if grown > 0:
            self._around.memory.hold(grown)
        elif grown < 0:
            self._around.memory.release(-grown)
            self._around.memory.leave(self)

    def _adjust_reading(self) -> None:
        """Read on unless a bound is reached."""
        wants = len(self._queue) < PIPELINED_REQUESTS_PER_CONNECTION_MAX
        is_modest = not self._queue and self._reader.held_bytes <= MODEST_BYTES_MAX
        if wants and not self._around.memory.admit(self, is_modest=is_modest):
            self._around.memory.wait(self, self._adjust_reading, is_modest=is_modest)
            self.traffic.pauses += self._is_reading
            wants = False
        if wants == self._is_reading or self._transport is None or self._transport.is_closing():
            return
        self._is_reading = wants
        if wants:
            # Time during which we did not read is not the client's fault.
            self._last_activity = self._around.clock.monotonic()
            self._frame_since = None if self._reader.is_idle else self._last_activity
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()


def _client_of(transport: asyncio.Transport) -> ConnectedClient:
    peer = transport.get_extra_info("peername")
    return ConnectedClient(address=str(peer[0]), port=int(peer[1])) if peer else ConnectedClient()
