"""A request's body, read as a whole before anybody works on it: within a size and a time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from penstock.gateway.errors import GatewayError

BODY_SECONDS_MAX = 30.0

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


class ClientGoneError(Exception):
    """Whoever asked hung up before the request was there."""


async def read_body(receive: Receive, *, bytes_max: int) -> bytes:
    """All of it; 413 if it is too large, 408 if it is too slow."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS_MAX):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > bytes_max:
                    raise too_large(size, bytes_max)
                if not message.get("more_body", False):
                    return b"".join(pieces)
    except TimeoutError as error:
        raise GatewayError(408, f"The body did not come within {BODY_SECONDS_MAX:g} s.") from error


def too_large(size: int, bytes_max: int) -> GatewayError:
    """The refusal of a body."""
    return GatewayError(413, f"A body of {size} bytes or more is too large: the most is {bytes_max}.")


def replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives the body that was read, and then whatever else comes."""
    pending = [body]

    async def receive_again() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return receive_again
