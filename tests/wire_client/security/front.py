"""A listener that wants TLS, a login or both, and hands all else on to a broker that knows of neither.

It does what Kafka does: ApiVersions may come before the login, anything else ends the connection; a login
that has run out may be renewed, and ends the connection at any other request.
"""

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Self

from tests.broker_process import Server
from tests.wire_client.security.certificates import HOSTS, Authority, server_context
from tests.wire_client.security.scram_server import ScramServer

from penstock.wire.api_keys import ApiKey, advertised_versions
from penstock.wire.framing import RequestHeader, decode_request, decode_request_header, encode_response
from penstock.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from penstock.wire.messages.sasl_authenticate import SaslAuthenticateResponse
from penstock.wire.messages.sasl_handshake import SaslHandshakeResponse
from penstock.wire.schema import Struct
from penstock.wire_client.connection import Address

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
USERS = {"anna": 'sesame, = "open"', "bert": "pass=word"}
_LENGTH = struct.Struct(">i")
_UNSUPPORTED_MECHANISM, _ILLEGAL_STATE, _FAILED = 33, 34, 58


class Front:
    """Runs in a thread of its own for as long as the ``with`` statement takes."""

    def __init__(
        self,
        *,
        context: ssl.SSLContext | None = None,
        wants_login: bool = False,
        mechanisms: Sequence[str] = MECHANISMS,
        lifetime_ms: int = 0,
    ) -> None:
        self.backend: Address | None = None
        self.mechanisms = tuple(mechanisms)
        self.lifetime_ms = lifetime_ms
        self.iterations = 4096
        self.spoils_signature = False
        self.spoils_nonce = False
        self.logins: list[str] = []
        """The mechanisms of all that succeeded."""
        self.connections = 0
        self.broken_renewals = 0
        self._context = context
        self._wants_login = wants_login
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        self.address = Address("localhost", started.result(10))
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> int:
        # A server of asyncio's would forget who is still shaking hands when it ends.
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self._keep(self._accept())
        port: int = self._listener.getsockname()[1]
        return port

    async def _stop(self) -> None:
        while tasks := set(self._tasks):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self._listener.close()

    async def _accept(self) -> None:
        while True:
            accepted, _ = await self._loop.sock_accept(self._listener)
            self.connections += 1
            self._keep(self._serve(accepted))

    def _keep(self, doing: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, accepted: socket.socket) -> None:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol, accepted, ssl=self._context
            )
        except OSError:
            return  # No hands were shaken.
        writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await Visit(self, reader, writer, wants_login=self._wants_login).take_place()
        writer.transport.abort()  # TLS would wait for the other side to say good-bye, too.


class Visit:
    """One connection to a front."""

    def __init__(
        self, front: Front, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, wants_login: bool
    ) -> None:
        self._front = front
        self._reader = reader
        self._writer = writer
        self._wants_login = wants_login
        self._is_known = not wants_login
        self._ends_at: float | None = None
        self._mechanism = ""
        self._scram: ScramServer | None = None

    async def take_place(self) -> None:
        assert self._front.backend is not None
        theirs, ours = await asyncio.open_connection(*self._front.backend)
        answers = asyncio.ensure_future(self._hand_back(theirs))
        try:
            while (frame := await self._frame()) is not None:
                if not self._wants_login:
                    ours.write(_LENGTH.pack(len(frame)) + frame)
                elif not await self._take(frame, ours):
                    return
        finally:
            answers.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await answers
            ours.close()
            with contextlib.suppress(OSError):
                await ours.wait_closed()

    async def _hand_back(self, theirs: asyncio.StreamReader) -> None:
        while data := await theirs.read(65_536):
            self._writer.write(data)
            await self._writer.drain()

    async def _frame(self) -> bytes | None:
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
        except asyncio.IncompleteReadError:
            return None
        if not 0 < length < 100_000_000:
            return None  # Kafka, too, hangs up on what is no request.
        return await self._reader.readexactly(length)

    async def _take(self, frame: bytes, ours: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        header = decode_request_header(frame)
        match header.api_key:
            case ApiKey.API_VERSIONS if not self._is_known:
                return self._say(header, _versions())
            case ApiKey.SASL_HANDSHAKE:
                return self._agree(header, frame)
            case ApiKey.SASL_AUTHENTICATE:
                return self._authenticate(header, frame)
        if not self._is_known or (self._ends_at is not None and time.monotonic() > self._ends_at):
            self._front.broken_renewals += self._is_known
            return False
        ours.write(_LENGTH.pack(len(frame)) + frame)
        await ours.drain()
        return True

    def _agree(self, header: RequestHeader, frame: bytes) -> bool:
        asked = decode_request(header.api_key, header.api_version, frame, header.body_position).mechanism
        is_served = asked in self._front.mechanisms
        self._mechanism, self._scram = asked, None
        code = 0 if is_served else _UNSUPPORTED_MECHANISM
        self._say(header, SaslHandshakeResponse(error_code=code, mechanisms=self._front.mechanisms))
        return is_served

    def _authenticate(self, header: RequestHeader, frame: bytes) -> bool:
        if not self._mechanism:
            self._say(header, SaslAuthenticateResponse(error_code=_ILLEGAL_STATE))
            return False
        message = bytes(
            decode_request(header.api_key, header.api_version, frame, header.body_position).auth_bytes
        )
        try:
            answer, is_done = self._follow(message)
        except PermissionError:
            words = f"Authentication failed: Invalid credentials with SASL mechanism {self._mechanism}"
            self._say(header, SaslAuthenticateResponse(error_code=_FAILED, error_message=words))
            return False
        lifetime_ms = self._front.lifetime_ms if is_done else 0
        if is_done:
            self._is_known = True
            self._front.logins.append(self._mechanism)
            self._ends_at = time.monotonic() + lifetime_ms / 1000 if lifetime_ms else None
        return self._say(header, SaslAuthenticateResponse(auth_bytes=answer, session_lifetime_ms=lifetime_ms))

    def _follow(self, message: bytes) -> tuple[bytes, bool]:
        if self._mechanism == "PLAIN":
            _, name, password = message.decode().split("\0")
            if USERS.get(name) != password:
                raise PermissionError(name)
            return b"", True
        if self._scram is None:
            digest = self._mechanism.removeprefix("SCRAM-").replace("-", "").lower()
            self._scram = ScramServer(digest, USERS, iterations=self._front.iterations)
            self._scram.spoils_signature = self._front.spoils_signature
            self._scram.spoils_nonce = self._front.spoils_nonce
            return self._scram.first(message), False
        return self._scram.final(message), True

    def _say(self, header: RequestHeader, message: Struct) -> bool:
        api = ApiKey(header.api_key)
        self._writer.write(encode_response(api, header.api_version, header.correlation_id, message))
        return True


def _versions() -> ApiVersionsResponse:
    login = (
        ApiVersion(api_key=ApiKey.SASL_HANDSHAKE, min_version=0, max_version=1),
        ApiVersion(api_key=ApiKey.SASL_AUTHENTICATE, min_version=0, max_version=2),
    )
    return ApiVersionsResponse(api_keys=(*advertised_versions(), *login))


@contextlib.contextmanager
def in_front_of(front: Front, backend: Address) -> Iterator[Front]:
    """The front, in front of a broker."""
    front.backend = backend
    with front:
        yield front


@contextlib.contextmanager
def guarded_broker(directory: Path, authority: Authority, *, lifetime_ms: int = 0) -> Iterator[Front]:
    """What wants TLS and a login, before a broker that tells everybody to connect there."""
    context = server_context(*authority.sign("broker", hosts=HOSTS))
    server = Server(directory)
    with Front(context=context, wants_login=True, lifetime_ms=lifetime_ms) as front:
        server.advertise(front.address.port)
        server.start()
        front.backend = Address(server.host, server.port)
        try:
            yield front
        finally:
            server.close()
