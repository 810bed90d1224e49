"""What browsers are told with every answer: run only our own files, show us in no frame, guess nothing."""

from collections.abc import MutableMapping
from typing import Any

Message = MutableMapping[str, Any]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

_ALWAYS = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
}
_UNLESS_SAID = {b"cache-control": b"no-store"}


def add_headers(start: Message) -> None:
    """Put them on the start of an answer; only how long it may be kept is left to whoever answers."""
    kept = [(name, value) for name, value in start.get("headers", ()) if name.lower() not in _ALWAYS]
    said = {name.lower() for name, _ in kept}
    kept += [(name, value) for name, value in _UNLESS_SAID.items() if name not in said]
    start["headers"] = [*kept, *_ALWAYS.items()]
