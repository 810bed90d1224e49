"""What is answered to an HTTP request."""

from collections.abc import Sequence
from dataclasses import dataclass

_PHRASES = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A status and a body, which may come in pieces."""

    status: int = 200
    content_type: str = TEXT
    body: Sequence[bytes] = ()

    def pieces(self, *, keeps_alive: bool) -> list[bytes]:
        """The whole answer as it goes over the wire."""
        lines = [
            f"HTTP/1.1 {self.status} {_PHRASES[self.status]}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {sum(map(len, self.body))}",
            # Numbers of one moment, and of nobody else's pages.
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            f"Connection: {'keep-alive' if keeps_alive else 'close'}",
        ]
        if self.status == 405:
            lines.append("Allow: GET")
        head = "\r\n".join(lines) + "\r\n\r\n"
        return [head.encode("ascii"), *self.body]


def text_answer(status: int, sentence: str) -> HttpAnswer:
    """A sentence for people."""
    return HttpAnswer(status=status, body=(f"{sentence}\n".encode(),))
