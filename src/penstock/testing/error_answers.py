"""Answers that say nothing but an error, for any API in any version, made from the request and the schemas.

Kafka has two places for errors. Most answers have one code for all of it; some have one for each entry that
the request named: a partition, a topic, a group. Such an answer mirrors the request: for every entry there is
one with the same name, and with the error. A field ``error_code`` as far out as possible is the one that
clients look at first; the few exceptions are in ``_OUTER``.

Which field of the answer stands for which of the request follows from the names: the same, or the only array
that there is; and for the names of entries, the few words that Kafka has for a partition's number.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import UsageError
from penstock.wire.api_keys import ApiKey, ApiSpec
from penstock.wire.primitives import INT16, INT32, STRING, Kind
from penstock.wire.schema import Field, Struct

ERROR_FIELDS = ("error_code", "partition_error_code")
ERROR_MESSAGE = "This error was ordered by a test."

_PARTITION_FIELDS = ("partition_index", "partition", "index", "partition_id")

_ABSENT: Mapping[str, Any] = {
    "base_offset": -1,
    "high_watermark": -1,
    "low_watermark": -1,
    "committed_offset": -1,
    "end_offset": -1,
    "node_id": -1,
    "port": -1,
    "records": b"",
}
"""What a field holds beside an error, where that is not its default."""

_OUTER: Mapping[ApiKey, frozenset[ErrorCode]] = {
    ApiKey.FETCH: frozenset(
        {
            ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
            ErrorCode.INVALID_FETCH_SESSION_EPOCH,
            ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
            ErrorCode.INCONSISTENT_TOPIC_ID,
            ErrorCode.UNKNOWN_TOPIC_ID,
        }
    ),
    ApiKey.METADATA: frozenset({ErrorCode.REBOOTSTRAP_REQUIRED}),
}
"""Answers with a code for all of it and one for each entry, and the errors that belong to all of it. In other
answers of that kind every error may stand for all."""

_UNNAMED = frozenset({ApiKey.DESCRIBE_LOG_DIRS})
"""Answers whose entries the request does not name: here directories, where it names topics."""


def check_expressible(spec: ApiSpec, error: ErrorCode) -> None:
    """Refuse a fault that no version of the API could tell a client of."""
    if not any(_can_express(spec, version, error) for version in _versions(spec)):
        raise UsageError(
            f"{spec.name} has no place for {error.name}: no version of its answer holds such an error. "
            "Use drop(), which closes the connection, instead."
        )


def error_answer(spec: ApiSpec, version: int, request: Struct, error: ErrorCode) -> Struct | None:
    """The answer to ``request`` with that error in its place; None where this version has none."""
    if not _can_express(spec, version, error):
        return None
    if _is_for_all(spec, version, error):
        return _with_error(spec.response, version, error, _copied(request, spec.response, ("member_id",)))
    return _with_entries(request, spec.response, version, error)


def entries_field(spec: ApiSpec, version: int, error: ErrorCode) -> tuple[str, str] | None:
    """Where the request and the answer have the entries that may fail singly; None if all fail together."""
    if _is_for_all(spec, version, error):
        return None
    name = _entries_with_errors(spec.response, version)
    return None if name is None else (_counterpart(spec.request, name, version), name)


def _versions(spec: ApiSpec) -> range:
    return range(spec.min_version, spec.max_version + 1)


@cache
def _can_express(spec: ApiSpec, version: int, error: ErrorCode) -> bool:
    if _is_for_all(spec, version, error):
        return True
    if spec.key in _OUTER and error in _OUTER[spec.key]:
        return False  # about a session, at a version that has none
    name = None if spec.key in _UNNAMED else _entries_with_errors(spec.response, version)
    return name is not None and _counterpart(spec.request, name, version) != ""


def _is_for_all(spec: ApiSpec, version: int, error: ErrorCode) -> bool:
    if spec.key in _OUTER and error not in _OUTER[spec.key]:
        return False
    return _error_field(spec.response, version) is not None


def _fields(struct: type[Struct], version: int) -> Iterator[tuple[str, Field]]:
    return ((name, field) for name, field in struct.fields.items() if field.versions.include(version))


def _error_field(struct: type[Struct], version: int) -> str | None:
    return next((name for name, field in _fields(struct, version) if name in ERROR_FIELDS), None)


def _entries_with_errors(struct: type[Struct], version: int) -> str | None:
    """The array whose elements hold an error, themselves or further inside."""
    for name, field in _fields(struct, version):
        element = field.kind
        if field.is_array and not isinstance(element, Kind):
            has_own = _error_field(element, version) is not None
            if has_own or _entries_with_errors(element, version) is not None:
                return name
    return None


def _counterpart(struct: type[Struct], name: str, version: int) -> str:
    """The array of the request that an array of the answer mirrors; empty when there is none."""
    arrays = [each for each, field in _fields(struct, version) if field.is_array]
    return name if name in arrays else next(iter(arrays), "")


def _with_entries(request: Any, answer: type[Struct], version: int, error: ErrorCode) -> Struct:
    """An answer, or a part of one, whose entries have the error, one for each that the request names."""
    name = _entries_with_errors(answer, version)
    assert name is not None
    element = answer.fields[name].kind
    assert not isinstance(element, Kind)
    wanted = getattr(request, _counterpart(type(request), name, version)) or ()
    entries = tuple(_entry(each, element, version, error) for each in wanted)
    return answer(**{**_named(request, answer, version), name: entries})


def _entry(request: Any, answer: type[Struct], version: int, error: ErrorCode) -> Struct:
    if _error_field(answer, version) is not None:
        return _with_error(answer, version, error, _named(request, answer, version))
    return _with_entries(request, answer, version, error)


def _named(request: Any, answer: type[Struct], version: int) -> dict[str, Any]:
    """The fields by which an answer's entry says which one of the request it is."""
    if isinstance(request, Struct):
        values = _copied(request, answer, ("name", "topic", "topic_id", "group_id", "transactional_id"))
        values |= _copied(request, answer, ("producer_id", "resource_type", "resource_name"))
        number = next((getattr(request, each) for each in _PARTITION_FIELDS if hasattr(request, each)), None)
        name = _first(answer, version, _PARTITION_FIELDS)
        return values if number is None or name is None else values | {name: number}
    names = _PARTITION_FIELDS if isinstance(request, int) else ()
    kind = INT32 if isinstance(request, int) else STRING
    name = _first(answer, version, names) or _first_of_kind(answer, version, kind)
    return {} if name is None else {name: request}


def _copied(request: Struct, answer: type[Struct], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: value
        for name in names
        if name in answer.fields and (value := getattr(request, name, None)) is not None
    }


def _first(struct: type[Struct], version: int, names: tuple[str, ...]) -> str | None:
    return next((name for name, _ in _fields(struct, version) if name in names), None)


def _first_of_kind(struct: type[Struct], version: int, kind: Kind[Any]) -> str | None:
    return next(
        (name for name, field in _fields(struct, version) if field.kind is kind and field.nulls.highest == 0),
        None,
    )


def _with_error(answer: type[Struct], version: int, error: ErrorCode, values: Mapping[str, Any]) -> Struct:
    absent = {name: value for name, value in _ABSENT.items() if name in answer.fields}
    message = {"error_message": ERROR_MESSAGE} if "error_message" in answer.fields else {}
    name = _error_field(answer, version)
    assert name is not None
    assert answer.fields[name].kind is INT16
    return answer(**{**absent, **message, **values, name: int(error)})
