"""A client's connection: requests out, answers matched by their number, nothing clever."""

import asyncio
import itertools
from typing import Any

from penstock.model.errors import PenstockError
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import decode_response, encode_request
from penstock.wire.schema import Struct


class Unanswered(PenstockError):
    """A request got no answer. ``was_sent`` tells whether it may have been carried out all the same."""

    def __init__(self, reason: str, *, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


_KEYS: dict[str, ApiKey] = {f"{spec.name}Request": spec.key for spec in APIS.values()}


class ClientConnection(asyncio.Protocol):
    """One connection to one broker; requests may follow each other without waiting."""

    def __init__(self, client_id: str) -> None:
        self._client_id = client_id
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[ApiKey, int, asyncio.Future[Any]]] = {}
        self.is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Hand complete answers to whoever asked."""
        self._received += data
        while len(self._received) >= 4:
            size = int.from_bytes(self._received[:4], "big")
            if len(self._received) < 4 + size:
                return
            frame = bytes(self._received[4 : 4 + size])
            del self._received[: 4 + size]
            self._answer(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody will be answered any more."""
        self.is_closed = True
        waiting, self._waiting = self._waiting, {}
        for _, _, answered in waiting.values():
            if not answered.done():
                answered.set_exception(Unanswered("connection lost", was_sent=True))

    def send(self, request: Struct, version: int) -> "asyncio.Future[Any]":
        """Send now; the future gets the answer, or ``Unanswered``."""
        answered = asyncio.get_running_loop().create_future()
        if self.is_closed or self._transport is None or self._transport.is_closing():
            answered.set_exception(Unanswered("not connected", was_sent=False))
            return answered
        key = _KEYS[type(request).__name__]
        number = next(self._numbers)
        self._waiting[number] = key, version, answered
        self._transport.write(encode_request(key, version, number, request, client_id=self._client_id))
        return answered

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    def _answer(self, frame: bytes) -> None:
        number = int.from_bytes(frame[:4], "big")
        key, version, answered = self._waiting.pop(number)
        if not answered.done():
            answered.set_result(decode_response(key, version, frame)[1])
