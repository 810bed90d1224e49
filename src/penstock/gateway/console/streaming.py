"""Answers that go on: pieces made by a blocking source, one step at a time, as long as somebody listens.

The source is a plain generator. Each of its steps runs on a worker thread and ends by itself; between two
steps nothing is held, so that an idle stream costs no thread. Whoever reads slowly is waited for before the
next step, and when nobody listens any more, or the gateway stops, the source is closed.
"""

import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from penstock.gateway.errors import GatewayError, gateway_error
from penstock.gateway.gateway import Gateway
from penstock.model.errors import PenstockError

HEARTBEAT_SECONDS = 10.0
_HEARTBEAT = b": still here\n\n"
_END = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Nothing to tell: take the next step a little later."""

    seconds: float


Pieces = Iterator[bytes | Pause]


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """One event as server-sent events are written; JSON has no line breaks."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


class SourceResponse(StreamingResponse):
    """Counts as one of the gateway's open streams until it ends, however it does; 503 if there are enough."""

    def __init__(
        self,
        request: Request,
        gateway: Gateway,
        source: Pieces,
        *,
        first: bytes = b"",
        heartbeat: bytes = b"",
        **answer: Any,
    ) -> None:
        self._gateway = gateway
        self._source = source
        super().__init__(_driven(request, gateway, source, first=first, heartbeat=heartbeat), **answer)
        gateway.streams.enter()  # The last that can fail: whoever is counted is answered, and leaves again.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and let go of everything."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._gateway.streams.leave()
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_close, self._source)


def event_stream(request: Request, gateway: Gateway, source: Pieces) -> SourceResponse:
    """Events until the source ends; an error on the way becomes the event ``problem``, the last one."""
    return SourceResponse(
        request,
        gateway,
        _with_problems(source),
        heartbeat=_HEARTBEAT,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def download(
    request: Request, gateway: Gateway, source: Pieces, *, media_type: str, file_name: str
) -> SourceResponse:
    """A file that is made while it is sent; an error on the way breaks it off, and is not whole.

    One at the very beginning, as that there is no such topic, is told like any other.
    """
    first = next(source, b"")
    try:
        return SourceResponse(
            request,
            gateway,
            source,
            first=first if isinstance(first, bytes) else b"",
            media_type=media_type,
            headers={
                "Cache-Control": "no-store",
                "Content-Disposition": f'attachment; filename="{file_name}"',
            },
        )
    except GatewayError:
        _close(source)
        raise


def _with_problems(source: Pieces) -> Pieces:
    try:
        yield from source
    except PenstockError as error:
        yield event("problem", gateway_error(error).body())


async def _driven(
    request: Request, gateway: Gateway, source: Pieces, *, first: bytes, heartbeat: bytes
) -> AsyncIterator[bytes]:
    told = time.monotonic()
    if first:
        yield first
    while not gateway.closing.is_set() and not await request.is_disconnected():
        piece: Any = await anyio.to_thread.run_sync(next, source, _END)
        if piece is _END:
            return
        if isinstance(piece, Pause):
            await anyio.sleep(piece.seconds)
            piece = heartbeat if time.monotonic() - told > HEARTBEAT_SECONDS else b""
        if piece:
            told = time.monotonic()
            yield piece


def _close(source: Any) -> None:
    source.close()
