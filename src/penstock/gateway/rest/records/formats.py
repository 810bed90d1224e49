"""Keys and values as JSON and back.

A record's bytes are shown as JSON, as text or as base64, or decoded by the schema whose number they carry;
which of them is said beside, so that what was read can be sent again as it is. ``auto`` takes the first that
fits: a schema, then text for keys, JSON and then text for values.
"""

import json
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from penstock.gateway.errors import GatewayError
from penstock.gateway.payloads.decoded import Decoder, UndecodableError

_MAGIC = b"\x00"
_FRAME_BYTES = 5
"""What serializers of a registry write in front: a zero, and the number of a schema."""


class Format(StrEnum):
    """How bytes are told."""

    AUTO = "auto"
    JSON = "json"
    STRING = "string"
    BINARY = "binary"
    SCHEMA = "schema"


class Told(NamedTuple):
    """What bytes are in JSON, and how they are told; nothing is ``None`` in any format."""

    data: Any
    format: Format
    schema_id: int | None = None
    """By which schema they were decoded, or should have been."""
    problem: str | None = None
    """Why they could not be decoded by it."""


def encode(data: Any, form: Format, *, what: str) -> bytes | None:
    """The bytes that ``data`` stands for; 422 if it stands for none."""
    if data is None:
        return None
    match form:
        case Format.JSON:
            return _json_bytes(data, what)
        case Format.AUTO:
            return _text_bytes(data, what) if isinstance(data, str) else _json_bytes(data, what)
        case Format.STRING:
            return _text_bytes(data, what)
        case Format.BINARY:
            return _binary_bytes(data, what)
        case Format.SCHEMA:
            raise GatewayError(422, f"The {what} cannot be by a schema here.")


def tell_key(data: bytes | None, form: Format, decode: Decoder | None = None) -> Told:
    """A key as JSON."""
    return _tell(data, form, first=(Format.STRING, Format.BINARY), decode=decode)


def tell_value(data: bytes | None, form: Format, decode: Decoder | None = None) -> Told:
    """A value as JSON."""
    return _tell(data, form, first=(Format.JSON, Format.STRING, Format.BINARY), decode=decode)


def dump(data: Any) -> bytes:
    """JSON as it is sent: ASCII, so that half a character of UTF-16 in a record does not break the answer."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def _json_bytes(data: Any, what: str) -> bytes:
    try:
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return dump(data)
    except ValueError as error:  # Python reads numbers that JSON does not have, such as NaN and 1e999.
        raise _refusal(what, "JSON", data) from error


def _text_bytes(data: Any, what: str) -> bytes:
    if not isinstance(data, str):
        raise _refusal(what, "string", data)
    try:
        return data.encode()
    except UnicodeEncodeError as error:
        raise _refusal(what, "string", data) from error


def _binary_bytes(data: Any, what: str) -> bytes:
    if not isinstance(data, str):
        raise _refusal(what, "base64", data)
    try:
        return b64decode(data, validate=True)
    except (Base64Error, ValueError) as error:
        raise _refusal(what, "base64", data) from error


def _refusal(what: str, wanted: str, data: Any) -> GatewayError:
    return GatewayError(422, f"The {what} is no {wanted}: {json.dumps(data)[:100]}.")


def _tell(data: bytes | None, form: Format, *, first: tuple[Format, ...], decode: Decoder | None) -> Told:
    if data is None:
        return Told(None, first[0] if form is Format.AUTO else form)
    if form in (Format.AUTO, Format.SCHEMA):
        if decode is not None and data[:1] == _MAGIC and len(data) >= _FRAME_BYTES:
            return _told_by_schema(data, decode)
        form = Format.AUTO
    wanted = first if form is Format.AUTO else (form, Format.BINARY)
    for each in wanted:
        try:
            return Told(_READERS[each](data), each)
        except (ValueError, RecursionError):  # Not of this format; the last one takes anything.
            continue
    return Told(b64encode(data).decode(), Format.BINARY)


def _told_by_schema(data: bytes, decode: Decoder) -> Told:
    try:
        decoded = decode(data)
    except UndecodableError as error:
        schema_id = int.from_bytes(data[1:_FRAME_BYTES], "big")
        return Told(b64encode(data).decode(), Format.BINARY, schema_id, str(error))
    return Told(decoded.document, Format.SCHEMA, decoded.schema_id)


def _read_json(data: bytes) -> Any:
    return json.loads(data.decode(), parse_constant=_refuse_constant, parse_float=_finite)


def _read_text(data: bytes) -> str:
    text = data.decode()
    if "\x00" in text:
        raise ValueError("bytes rather than text")
    return text


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large")
    return number


_READERS: Mapping[Format, Callable[[bytes], Any]] = {
    Format.JSON: _read_json,
    Format.STRING: _read_text,
    Format.BINARY: lambda data: b64encode(data).decode(),
}
