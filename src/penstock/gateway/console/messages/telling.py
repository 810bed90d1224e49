"""A message as plain values, for lists and alone."""

from typing import Any

from penstock.gateway.console.messages.payloads import Extent, told_payload
from penstock.gateway.console.messages.reading import Located
from penstock.gateway.payloads.decoded import Decoder

HEADERS_MAX = 100


def told_message(located: Located, decode: Decoder, extent: Extent) -> dict[str, Any]:
    """Where it is, when it was, and what is in it."""
    partition, record = located
    return {
        "partition": partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "size": len(record.key or b"") + len(record.value or b""),
        "key": told_payload(record.key, decode, extent),
        "value": told_payload(record.value, decode, extent),
        "headers": [
            {"name": _name(name), "value": told_payload(value, None, extent)}
            for name, value in record.headers[:HEADERS_MAX]
        ],
        "header_count": len(record.headers),
    }


def _name(name: str) -> str:
    """Names may hold bytes that are no text; JSON may not."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
