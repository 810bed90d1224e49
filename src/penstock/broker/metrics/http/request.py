"""The head of an HTTP request, read strictly: what is not plain is refused, not guessed at (RFC 9112)."""

import re
from dataclasses import dataclass

HEAD_BYTES_MAX = 8 * 1024
HEAD_END = b"\r\n\r\n"

_REQUEST_LINE = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.([01])")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~\t\x80-\xff]*)")


class BadRequestError(Exception):
    """A request that is answered with an error, after which the connection ends."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What is asked for."""

    method: str
    #: Without the query.
    path: str
    #: Lower case, without the port; empty if a caller of HTTP/1.0 named none.
    host: str
    accept: str
    #: Whether the caller means to ask again on this connection.
    keeps_alive: bool


def parse_head(head: bytes) -> HttpRequest:
    """A request's head without the empty line behind it; ``BadRequestError`` for anything unusual."""
    first, *lines = head.decode("latin-1").split("\r\n")
    matched = _REQUEST_LINE.fullmatch(first)
    if matched is None:
        raise BadRequestError(400, "The request line is malformed.")
    method, target, minor = matched.groups()
    headers = _headers(lines)
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise BadRequestError(400, "Requests must have no body.")
    if "host" not in headers and minor == "1":
        raise BadRequestError(400, "A Host header is needed.")
    connection = {token.strip().lower() for token in headers.get("connection", "").split(",")}
    return HttpRequest(
        method=method,
        path=target.partition("?")[0],
        host=_bare_host(headers.get("host", "")),
        accept=headers.get("accept", ""),
        keeps_alive="close" not in connection and (minor == "1" or "keep-alive" in connection),
    )


def _headers(lines: list[str]) -> dict[str, str]:
    """Those of a list are joined; two hosts or lengths are an attempt to be read in two ways."""
    headers: dict[str, str] = {}
    for line in lines:
        matched = _HEADER.fullmatch(line)
        if matched is None:
            raise BadRequestError(400, "A header is malformed.")
        name, value = matched[1].lower(), matched[2].strip()
        if name in headers and name in ("host", "content-length", "transfer-encoding"):
            raise BadRequestError(400, "A header that may be there once is there twice.")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _bare_host(host: str) -> str:
    """Without the port, and without the brackets of an IPv6 address."""
    name, colon, port = host.rpartition(":")
    bare = name if colon and port.isdecimal() else host
    return bare.strip("[]").lower()
