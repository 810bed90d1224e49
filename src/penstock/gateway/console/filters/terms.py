"""The single conditions of a filter, each as a function that says whether a message satisfies it."""

from collections.abc import Callable

from penstock.gateway.console.filters.candidate import MISSING, Candidate, is_framed
from penstock.gateway.console.filters.comparing import (
    EQUAL,
    document_test,
    instant_ms,
    number_of,
    number_test,
)
from penstock.gateway.console.filters.json_path import JsonPath
from penstock.gateway.console.filters.text_search import Needle, compile_pattern
from penstock.gateway.console.filters.tokens import unquoted

Wanted = Callable[[Candidate], bool]
"""Whether a message is wanted."""

_NUMBERS: dict[str, Callable[[Candidate], int]] = {
    "partition": lambda candidate: candidate.partition,
    "offset": lambda candidate: candidate.record.offset,
    "timestamp": lambda candidate: candidate.record.timestamp,
    "size": lambda candidate: len(candidate.record.key or b"") + len(candidate.record.value or b""),
}


def text_anywhere(text: str) -> Wanted:
    """The text stands in key, value or headers."""
    return Needle(text).is_anywhere


def path_exists(path: JsonPath) -> Wanted:
    """The path leads to something that is not null."""
    return _at_path(path, lambda value: value is not None)


def path_compared(path: JsonPath, operator: str, text: str, *, is_quoted: bool) -> Wanted:
    """Something that the path leads to passes; ValueError if the comparison makes no sense."""
    return _at_path(path, document_test(operator, text, is_quoted=is_quoted))


def header_exists(field: str) -> Wanted:
    """There is a header of that name."""
    name = header_name(field)
    return lambda candidate: any(each == name for each, _ in candidate.headers)


def field_compared(field: str, operator: str, text: str) -> Wanted:
    """A field passes; ValueError if the comparison makes no sense."""
    name = field.lower()
    if name in _NUMBERS:
        return _number_compared(name, operator, text)
    if name in ("key", "value"):
        return _payload_compared(operator, text, is_of_key=name == "key")
    return _header_compared(header_name(field), operator, text)


def header_name(field: str) -> str:
    """The name in ``header.NAME`` or ``header["NAME"]``."""
    if "[" in field:
        return unquoted(field[field.index("[") + 1 : -1])
    return field.split(".", 1)[1]


def _at_path(path: JsonPath, passes: Callable[[object], bool]) -> Wanted:
    names, is_of_key = path.names, path.is_of_key

    def wanted(candidate: Candidate) -> bool:
        payload = candidate.payload(is_of_key=is_of_key)
        if not payload or _cannot_have(payload, names):
            return False
        document = candidate.document(is_of_key=is_of_key)
        return document is not MISSING and any(map(passes, path.values(document)))

    return wanted


def _cannot_have(payload: bytes, names: tuple[bytes, ...]) -> bool:
    """Whether a name of the path is not in the JSON at all, which is seen without parsing it.

    Names may be written with escapes, so a payload with any is parsed.
    """
    if is_framed(payload) or b"\\" in payload:
        return False
    return any(name not in payload for name in names)


def _number_compared(name: str, operator: str, text: str) -> Wanted:
    number = instant_ms(text) if name == "timestamp" else number_of(text)
    if number is None:
        what = "a time such as 2026-01-31T12:00 or milliseconds" if name == "timestamp" else "a number"
        raise ValueError(f"{name} is compared with {what}, not with {text!r}")
    value, test = _NUMBERS[name], number_test(operator, number)
    return lambda candidate: test(value(candidate))


def _payload_compared(operator: str, text: str, *, is_of_key: bool) -> Wanted:
    if operator == ":":
        needle = Needle(text)
        return lambda candidate: needle.is_in_payload(candidate, is_of_key=is_of_key)
    if operator in ("=", "==", "!=") and text.lower() == "null":
        return lambda candidate: (candidate.payload(is_of_key=is_of_key) is None) == (operator in EQUAL)
    test = _bytes_test(operator, text)
    return lambda candidate: _passes(candidate.payload(is_of_key=is_of_key), test)


def _header_compared(name: str, operator: str, text: str) -> Wanted:
    test = Needle(text).is_in_bytes if operator == ":" else _bytes_test(operator, text)
    return lambda candidate: any(each == name and _passes(value, test) for each, value in candidate.headers)


def _bytes_test(operator: str, text: str) -> Callable[[bytes], bool]:
    wanted = text.encode()
    if operator in EQUAL:
        return lambda payload: payload == wanted
    if operator == "!=":
        return lambda payload: payload != wanted
    if operator == "~":
        return compile_pattern(text)
    raise ValueError("bytes have no order; compare a field inside with $.name")


def _passes(payload: bytes | None, test: Callable[[bytes], bool]) -> bool:
    return payload is not None and test(payload)
