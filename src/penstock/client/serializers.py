"""From objects to bytes and back: functions of one argument, and the three that have names.

None stays None: a record without a key, or a tombstone, never reaches a serializer.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from penstock.client.errors import ConfigurationError, SerializationError

Serializer = Callable[[Any], "bytes | str"]
Deserializer = Callable[[bytes], Any]


def bytes_serializer(value: Any) -> bytes | str:
    """Bytes as they are, text as UTF-8; nothing else."""
    if isinstance(value, bytes | str):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    raise SerializationError(f"{value!r} is {type(value).__name__}, not bytes or text", code="INVALID_RECORD")


def str_serializer(value: Any) -> bytes | str:
    """What ``str`` makes of it, as UTF-8."""
    return str(value)


def json_serializer(value: Any) -> bytes | str:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def bytes_deserializer(data: bytes) -> Any:
    """Bytes as they are."""
    return data


def str_deserializer(data: bytes) -> Any:
    """UTF-8 as text."""
    return data.decode()


def json_deserializer(data: bytes) -> Any:
    """What the JSON stands for."""
    return json.loads(data)


SERIALIZERS: Mapping[str, Serializer] = {
    "bytes": bytes_serializer,
    "str": str_serializer,
    "json": json_serializer,
}
DESERIALIZERS: Mapping[str, Deserializer] = {
    "bytes": bytes_deserializer,
    "str": str_deserializer,
    "json": json_deserializer,
}


def serializer(name: str, value: Any) -> Serializer:
    """The rule of such a setting: a name of ours, or a function."""
    return _named_or_function(name, value, SERIALIZERS)


def deserializer(name: str, value: Any) -> Deserializer:
    """The rule of such a setting: a name of ours, or a function."""
    return _named_or_function(name, value, DESERIALIZERS)


def _named_or_function(name: str, value: Any, known: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    if isinstance(value, str) and value in known:
        return known[value]
    if not callable(value):
        choices = ", ".join(map(repr, known))
        raise ConfigurationError(
            f"{name}={value!r} is not allowed: it must be {choices} or a function", setting=name
        )
    return value  # type: ignore[no-any-return]
