r"""How ``penstock consume`` writes a record: a format with ``%`` fields, or JSON.

The fields are kcat's, so that fingers which know them need not learn: ``%t`` topic, ``%p`` partition, ``%o``
offset, ``%k`` key, ``%v`` or ``%s`` value, ``%h`` headers, ``%T`` timestamp in milliseconds, ``%K`` and
``%S`` the sizes of key and value (-1 for none), ``%%`` a percent sign. The escapes ``\n \t \r \0 \\ \xNN``
are understood.
A format is compiled once to a list of pieces; keys and values go out as the bytes they are.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from penstock.model.errors import UsageError

if TYPE_CHECKING:
    from confluent_kafka import Message

Formatter = Callable[["Message"], bytes]

_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}
_PIECE = re.compile(rb"%(.?)|([^%]+)", re.DOTALL)


def compile_format(text: str, *, show_value: Formatter | None = None) -> Formatter:
    """A function that turns a message into the bytes ``text`` describes; ``show_value`` may write values."""
    fields = _FIELDS if show_value is None else _FIELDS | {b"v": show_value, b"s": show_value}
    pieces = [_compile_piece(match, text, fields) for match in _PIECE.finditer(text.encode())]

    def write(message: "Message") -> bytes:
        return b"".join([piece(message) for piece in pieces])

    return write


def json_fields(message: "Message") -> dict[str, Any]:
    """The record as JSON values; bytes that are not UTF-8 appear as base64 under ``<name>_base64``.

    Headers are null where one has such a name: of these nothing can be told.
    """
    timestamp_type, timestamp = message.timestamp()
    headers = _readable_headers(message)
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": timestamp if timestamp_type else None,
        **text_or_base64("key", message.key()),
        **text_or_base64("value", message.value()),
        "headers": None
        if headers is None
        else [{"name": name, **text_or_base64("value", value)} for name, value in headers],
    }


def _compile_piece(match: re.Match[bytes], text: str, fields: Mapping[bytes, Formatter]) -> Formatter:
    field, literal = match.groups()
    if literal is not None:
        return _constant(_ESCAPE.sub(_unescape, literal))
    if field == b"%":
        return _constant(b"%")
    if field not in fields:
        known = " ".join(f"%{name.decode()}" for name in fields)
        raise UsageError(f"Format {text!r} has an unknown field '%{field.decode()}'; known are {known} %%.")
    return fields[field]


def _constant(literal: bytes) -> Formatter:
    return lambda message: literal


def _unescape(match: re.Match[bytes]) -> bytes:
    name = match[1]
    if len(name) == 3:
        return bytes([int(name[1:], 16)])
    return _ESCAPES.get(name, match[0])


def _headers(message: "Message") -> bytes:
    pairs = _readable_headers(message)
    if pairs is None:
        return b"(names that are not UTF-8)"
    return b",".join(name.encode() + b"=" + (b"NULL" if value is None else value) for name, value in pairs)


def _readable_headers(message: "Message") -> "list[tuple[str, bytes | None]] | None":
    """The headers; None if a name is not UTF-8. One such record must not keep others from being read."""
    from penstock.client.consuming.raw_headers import readable_headers

    return readable_headers(message)


def _size(data: bytes | None) -> bytes:
    return b"-1" if data is None else b"%d" % len(data)


_FIELDS: dict[bytes, Formatter] = {
    b"t": lambda message: str(message.topic()).encode(),
    b"p": lambda message: b"%d" % message.partition(),
    b"o": lambda message: b"%d" % message.offset(),
    b"k": lambda message: message.key() or b"",
    b"v": lambda message: message.value() or b"",
    b"s": lambda message: message.value() or b"",
    b"h": _headers,
    b"T": lambda message: b"%d" % message.timestamp()[1],
    b"K": lambda message: _size(message.key()),
    b"S": lambda message: _size(message.value()),
}


def text_or_base64(name: str, data: bytes | None) -> dict[str, str | None]:
    """Bytes under ``name`` as JSON can hold them."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": b64encode(data).decode()}
