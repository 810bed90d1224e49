"""What a line of input says: a record in plain text, or one in JSON with all its parts.

JSON lines have the form that ``penstock consume --json`` prints, so that one can be piped into the other: a
text is taken as it is, anything else as JSON, null as none, and bytes that are no text under ``key_base64``
and ``value_base64``.
"""

import json
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.cli.failure import CommandFailed
from penstock.cli.produce.input_lines import Line
from penstock.config.definition import INT_MAX, LONG_MAX
from penstock.model.names import is_header_name

ANY_PARTITION = -1

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRecord:
    """A record to be sent."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int = ANY_PARTITION
    timestamp_ms: int | None = None
    """None for the time of sending."""


Parser = Callable[[Line], LineRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What every record has unless its line says something else."""

    headers: Headers = ()
    partition: int = ANY_PARTITION


def text_parser(defaults: Defaults, *, key_separator: str | None, empty_is_null: bool) -> Parser:
    """Takes a line for a value, or for key and value where the separator is in it."""
    separator = None if key_separator is None else key_separator.encode()

    def parse(line: Line) -> LineRecord:
        key, value = None, line.text
        if separator is not None and separator in value:
            key, _, value = value.partition(separator)
        return LineRecord(
            key=key,
            value=None if empty_is_null and not value else value,
            headers=defaults.headers,
            partition=defaults.partition,
        )

    return parse


def json_parser(defaults: Defaults) -> Parser:
    """Takes a line for a JSON object with ``key``, ``value``, ``headers``, ``partition``, ``timestamp``."""

    def parse(line: Line) -> LineRecord:
        try:
            return _from_json(json.loads(line.text), defaults)
        except (ValueError, RecursionError) as error:
            raise CommandFailed(
                f"{line} is no record in JSON: {error}.",
                hint='A line looks like {"key": "a", "value": {"n": 1}, "headers": {"source": "x"}}.',
            ) from error

    return parse


_KNOWN = frozenset(
    {
        *("key", "key_base64", "value", "value_base64", "headers", "partition", "timestamp"),
        # Where a record was read is told by `consume --json`, and means nothing here.
        *("topic", "offset"),
    }
)


def _from_json(fields: Any, defaults: Defaults) -> LineRecord:
    if not isinstance(fields, dict):
        raise ValueError("it is no object")
    if unknown := sorted(fields.keys() - _KNOWN):
        raise ValueError(f"nothing is called {unknown[0]!r}")
    partition = _number(fields, "partition", largest=INT_MAX)
    return LineRecord(
        key=_content(fields, "key"),
        value=_content(fields, "value"),
        headers=defaults.headers + _headers(fields.get("headers")),
        partition=defaults.partition if partition is None else partition,
        timestamp_ms=_number(fields, "timestamp", largest=LONG_MAX),
    )


def _content(fields: Mapping[str, Any], name: str) -> bytes | None:
    if f"{name}_base64" in fields:
        return _from_base64(fields[f"{name}_base64"])
    content = fields.get(name)
    if content is None:
        return None
    if isinstance(content, str):
        return content.encode()
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _from_base64(text: Any) -> bytes:
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no base64")
    return b64decode(text, validate=True)


def _number(fields: Mapping[str, Any], name: str, *, largest: int) -> int | None:
    number = fields.get(name)
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= largest:
        raise ValueError(f"{name} {number!r} is no number from 0 to {largest}")
    return number


def _headers(headers: Any) -> Headers:
    pairs = _header_pairs(headers)
    for name, _ in pairs:
        if not is_header_name(name):
            raise ValueError(f"{name!r} is no name of a header")
    return pairs


def _header_pairs(headers: Any) -> Headers:
    if headers is None:
        return ()
    if isinstance(headers, dict):
        return tuple((name, _content({"value": value}, "value")) for name, value in headers.items())
    if not isinstance(headers, list) or not all(
        isinstance(each, dict) and isinstance(each.get("name"), str) for each in headers
    ):
        raise ValueError("headers are neither an object nor a list of objects with a name")
    return tuple((each["name"], _content(each, "value")) for each in headers)
