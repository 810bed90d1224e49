"""One HTTP connection: a request at a time, each bounded in size and in time.

A caller has ``HEAD_SECONDS_MAX`` from the first byte of a request to its last, ``IDLE_SECONDS_MAX`` between
requests and ``WRITE_SECONDS_MAX`` to read an answer. While one request is answered no more is read.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from penstock.broker.metrics.http.answer import HttpAnswer, text_answer
from penstock.broker.metrics.http.request import (
    HEAD_BYTES_MAX,
    HEAD_END,
    BadRequestError,
    HttpRequest,
    parse_head,
)
from penstock.broker.tasks import Tasks

logger = logging.getLogger(__name__)

CONNECTIONS_MAX = 32
HEAD_SECONDS_MAX = 10.0
IDLE_SECONDS_MAX = 150.0
"""Longer than the usual time between two scrapes, so that they need no new connection."""
WRITE_SECONDS_MAX = 30.0

Respond = Callable[[HttpRequest], Awaitable[HttpAnswer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSurroundings:
    """What all connections of a listener share."""

    respond: Respond
    tasks: Tasks
    connections: "dict[HttpConnection, None]"
    connections_max: int = CONNECTIONS_MAX
    head_seconds_max: float = HEAD_SECONDS_MAX
    idle_seconds_max: float = IDLE_SECONDS_MAX
    write_seconds_max: float = WRITE_SECONDS_MAX


class HttpConnection(asyncio.Protocol):
    """The protocol object of one socket."""

    def __init__(self, around: HttpSurroundings, loop: asyncio.AbstractEventLoop) -> None:
        self._around = around
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._is_answering = False
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has called; beyond the bound it is told so and closed."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        is_one_too_many = len(self._around.connections) >= self._around.connections_max
        self._around.connections[self] = None
        if is_one_too_many:
            self._send(text_answer(503, "There are too many connections."), keeps_alive=False)
        else:
            self._set_deadline(self._around.idle_seconds_max)

    def connection_lost(self, exc: Exception | None) -> None:
        """The conversation is over."""
        self._clear_deadline()
        self._transport = None
        del self._around.connections[self]

    def data_received(self, data: bytes) -> None:
        """Some of a request has come."""
        if self._transport is None or self._transport.is_closing():
            return
        if not self._received and not self._is_answering:
            self._set_deadline(self._around.head_seconds_max)
        self._received += data
        self._go_on()

    def pause_writing(self) -> None:
        """The caller reads slowly: it gets some time, and no more."""
        self._set_deadline(self._around.write_seconds_max)

    def resume_writing(self) -> None:
        """The caller has read its answer."""
        self._set_deadline(self._around.idle_seconds_max)

    def close(self) -> None:
        """End the conversation at once."""
        if self._transport is not None:
            self._transport.abort()

    def _go_on(self) -> None:
        """Answer the next request once it is complete."""
        if self._is_answering or self._transport is None or self._transport.is_closing():
            return
        end = self._received.find(HEAD_END, 0, HEAD_BYTES_MAX)
        if end >= 0:
            head = bytes(self._received[:end])
            del self._received[: end + len(HEAD_END)]
            self._begin(head)
        elif len(self._received) >= HEAD_BYTES_MAX:
            self._refuse(BadRequestError(431, f"A request may have {HEAD_BYTES_MAX} bytes."))

    def _begin(self, head: bytes) -> None:
        assert self._transport is not None
        try:
            request = parse_head(head)
        except BadRequestError as error:
            self._refuse(error)
            return
        self._is_answering = True
        self._clear_deadline()
        self._transport.pause_reading()
        self._around.tasks.start(self._answer(request), name="answer an HTTP request")

    async def _answer(self, request: HttpRequest) -> None:
        keeps_alive = request.keeps_alive
        try:
            answer = await self._around.respond(request)
        except Exception:
            logger.exception("page failed", extra={"path": request.path})
            answer, keeps_alive = text_answer(500, "An error in the broker; its log has more."), False
        self._is_answering = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            self._send(answer, keeps_alive=keeps_alive)
            self._go_on()

    def _refuse(self, error: BadRequestError) -> None:
        self._send(text_answer(error.status, error.reason), keeps_alive=False)

    def _send(self, answer: HttpAnswer, *, keeps_alive: bool) -> None:
        assert self._transport is not None
        self._set_deadline(self._around.idle_seconds_max if keeps_alive else self._around.write_seconds_max)
        for piece in answer.pieces(keeps_alive=keeps_alive):
            self._transport.write(piece)
        if not keeps_alive:
            self._transport.close()

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._deadline = self._loop.call_later(seconds, self.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
