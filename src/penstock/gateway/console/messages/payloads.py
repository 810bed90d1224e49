"""Keys, values and headers as people read them: JSON, text, decoded by a schema, or bytes.

Text is told as it is, never parsed and printed again, so that numbers keep all their digits and names their
order; the browser lays it out. What is long is cut, and that is told.
"""

import base64
import json
from dataclasses import dataclass
from typing import Any

from penstock.gateway.console.filters.candidate import MISSING, is_framed, parsed
from penstock.gateway.payloads.decoded import Decoded, Decoder, UndecodableError

PREVIEW_CHARACTERS_MAX = 600
"""Of a payload in a list."""
WHOLE_CHARACTERS_MAX = 1_000_000
"""Of a payload that is shown alone."""
PREVIEW_BYTES_MAX = 64
WHOLE_BYTES_MAX = 2 * 1024 * 1024
"""Of bytes that are no text; what may be sent again is told whole up to here."""

_WHITE_SPACE = frozenset("\t\n\r")
_NUMBER_SIZES = (4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of a payload is told."""

    characters_max: int
    bytes_max: int
    with_bytes: bool
    """Whether the bytes are told beside a text."""


PREVIEW = Extent(characters_max=PREVIEW_CHARACTERS_MAX, bytes_max=PREVIEW_BYTES_MAX, with_bytes=False)
WHOLE = Extent(characters_max=WHOLE_CHARACTERS_MAX, bytes_max=WHOLE_BYTES_MAX, with_bytes=True)


def told_payload(payload: bytes | None, decode: Decoder | None, extent: Extent) -> dict[str, Any]:
    """A key, a value, or a header's value, which has no schema, as plain values."""
    if payload is None:
        return {"kind": "null", "bytes": 0}
    told = {"bytes": len(payload), **_told(payload, decode, extent)}
    if extent.with_bytes or "text" not in told:
        told |= _told_bytes(payload, extent)
    return told


def _told(payload: bytes, decode: Decoder | None, extent: Extent) -> dict[str, Any]:
    if decode is not None and payload and is_framed(payload):
        return _told_framed(payload, decode, extent)
    text = text_of(payload)
    if text is None:
        return {"kind": "binary", **_told_number(payload)}
    return {"kind": "json" if _is_document(text, payload) else "text", **_cut(text, extent)}


def _told_framed(payload: bytes, decode: Decoder, extent: Extent) -> dict[str, Any]:
    try:
        decoded = decode(payload)
    except UndecodableError as error:
        return {"kind": "binary", "problem": str(error), **_told_number(payload)}
    told = {"kind": decoded.kind, "schema_id": decoded.schema_id}
    return {**told, **_cut(document_text(decoded), extent)}


def document_text(decoded: Decoded) -> str:
    """A decoded document as JSON."""
    return json.dumps(decoded.document, ensure_ascii=False)


def text_of(payload: bytes) -> str | None:
    """The text in a payload, or None if it is none that people can read."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return None
    if text.isprintable() or all(each.isprintable() or each in _WHITE_SPACE for each in text):
        return text
    return None


def _is_document(text: str, payload: bytes) -> bool:
    return text.lstrip()[:1] in ("{", "[") and parsed(payload) is not MISSING


def _cut(text: str, extent: Extent) -> dict[str, Any]:
    if len(text) <= extent.characters_max:
        return {"text": text}
    return {"text": text[: extent.characters_max], "is_cut": True}


def _told_bytes(payload: bytes, extent: Extent) -> dict[str, Any]:
    told: dict[str, Any] = {"base64": base64.b64encode(payload[: extent.bytes_max]).decode()}
    return told | {"are_bytes_cut": True} if len(payload) > extent.bytes_max else told


def _told_number(payload: bytes) -> dict[str, Any]:
    """Keys are often numbers of four or eight bytes; as text, since browsers round large ones."""
    if len(payload) not in _NUMBER_SIZES:
        return {}
    return {"number": str(int.from_bytes(payload, "big", signed=True))}
