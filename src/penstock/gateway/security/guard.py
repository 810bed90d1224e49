"""The door: every request passes here before any route is looked for, and every answer on its way out.

In order: how the request is framed, to which name it was sent, from which page, what it carries, whether the
token is known, whether there is room. Nothing is public but what ``PUBLIC_PATHS`` names.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response

from penstock.gateway.bounded_count import BoundedCount
from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.path_names import encoded_path
from penstock.gateway.security.hosts import HostCheck
from penstock.gateway.security.login.page import LOGIN_PATHS, login_page
from penstock.gateway.security.origin import check_content_type, check_origin, has_body
from penstock.gateway.security.request_body import (
    ClientGoneError,
    Message,
    Receive,
    read_body,
    replayed,
    too_large,
)
from penstock.gateway.security.response_headers import add_headers
from penstock.gateway.security.token import TokenCheck

PUBLIC_PATHS = frozenset({"/health", *LOGIN_PATHS})
"""Answered without a token: whether the gateway lives, and how to log in."""

HEADER_BYTES_MAX = 16 * 1024
"""Of all headers and the path; h11 bounds only those that do not come at once."""

SEND_SECONDS_MAX = 30.0
"""A reader that takes nothing for so long is hung up on."""

Scope = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """The application behind its door."""

    def __init__(self, app: App, gateway: Gateway) -> None:
        self._app = app
        self._settings = gateway.settings
        self._hosts = HostCheck(gateway.settings)
        self._token = TokenCheck(gateway.settings.token)
        self._requests = BoundedCount(gateway.settings.requests_max, of="requests")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # The doors below and the routes behind them see one and the same path.
        scope = {**scope, "path": encoded_path(scope["raw_path"])}
        headers = _headers(scope)
        send = _guarded(send)
        try:
            self._check(scope, headers)
            await self._serve(scope, receive, send, headers)
        except GatewayError as refusal:
            await _refusal(refusal, scope, headers)(scope, receive, send)
        except ClientGoneError:
            return

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        _check_framing(scope)
        self._hosts.check(headers.get("host", ""))
        check_origin(scope["method"], headers, scheme=scope["scheme"])
        check_content_type(scope["method"], headers)
        if scope["path"] not in PUBLIC_PATHS:
            self._token.check(headers, scope["server"][1])

    async def _serve(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        slot = _Slot(self._requests)
        try:
            if has_body(headers):
                declared = int(headers.get("content-length", "0"))
                if declared > self._settings.body_bytes_max:
                    raise too_large(declared, self._settings.body_bytes_max)
                body = await read_body(receive, bytes_max=self._settings.body_bytes_max)
                receive = replayed(body, receive)
            await self._app(scope, receive, slot.released_by_streams(send))
        finally:
            slot.release()


class _Slot:
    """One of the requests that are worked on; a stream gives it back, since streams are counted elsewhere."""

    def __init__(self, requests: BoundedCount) -> None:
        requests.enter()
        self._requests: BoundedCount | None = requests

    def release(self) -> None:
        if self._requests is not None:
            self._requests.leave()
            self._requests = None

    def released_by_streams(self, send: Send) -> Send:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_stream(message):
                self.release()
            await send(message)

        return send_on


def _is_stream(start: Message) -> bool:
    kinds = (value for name, value in start.get("headers", ()) if name.lower() == b"content-type")
    return any(kind.startswith(b"text/event-stream") for kind in kinds)


def _guarded(send: Send) -> Send:
    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            add_headers(message)
        async with asyncio.timeout(SEND_SECONDS_MAX):
            await send(message)

    return send_on


def _headers(scope: Scope) -> dict[str, str]:
    """By their names in small letters; of several with one name the last, but for what must be there once."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _check_framing(scope: Scope) -> None:
    """A request that says twice how long it is, or where it goes, may be read in two ways: RFC 9112, 6.3."""
    names = [name for name, _ in scope["headers"]]
    size = len(scope["raw_path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in scope["headers"])
    if size > HEADER_BYTES_MAX:
        raise GatewayError(431, f"Headers of {size} bytes are too large: the most is {HEADER_BYTES_MAX}.")
    if b"transfer-encoding" in names and b"content-length" in names:
        raise GatewayError(400, "A request has Content-Length or Transfer-Encoding, not both.")
    for name in (b"host", b"content-length", b"authorization", b"origin", b"content-type"):
        if names.count(name) > 1:
            raise GatewayError(400, f"A request has one header {name.decode()}, not {names.count(name)}.")


def _refusal(refusal: GatewayError, scope: Scope, headers: Mapping[str, str]) -> Response:
    """Programs get JSON; a person who opens a page is asked for the token."""
    is_page = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    if refusal.status == 401 and is_page:
        return login_page(status=401)
    answer = refusal.response()
    if refusal.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="penstock gateway"'
    if has_body(headers):
        answer.headers["Connection"] = "close"  # What follows was not read.
    return answer
