"""Which topics a request names, whatever the API, and the part of it that is about some of them."""

from collections.abc import Callable, Iterator
from typing import Any

from penstock.model.ids import ZERO_TOPIC_ID
from penstock.wire.primitives import Kind
from penstock.wire.schema import Struct, replace

NameOf = Callable[[bytes], str | None]
"""The name of a topic by its id."""

_TOPIC_ARRAYS = frozenset({"topics", "topic_data", "topic_partitions", "v3_and_below_topics"})
_NAME_ARRAYS = frozenset({"topic_names", "subscribed_topic_names"})
_NAME_FIELDS = ("name", "topic", "topic_name")
_TOPIC_RESOURCE = 2


def topics_of(request: Struct, name_of: NameOf) -> tuple[str, ...]:
    """The names of all topics in it, each once, in the order of their first mention."""
    return tuple(dict.fromkeys(_names(request, name_of)))


def can_name_topics(request: type[Struct]) -> bool:
    """Whether requests of that kind name topics at all."""
    for name, field in request.fields.items():
        if name in _TOPIC_ARRAYS or name in _NAME_ARRAYS or name == "resource_type":
            return True
        if not isinstance(field.kind, Kind) and can_name_topics(field.kind):
            return True
    return False


def divide(request: Struct, field: str, topic: str, name_of: NameOf) -> tuple[Struct, Struct | None]:
    """The part of a request whose entries are about a topic, and the rest, if there is any.

    A request whose entries are no topics is not divided.
    """
    entries = getattr(request, field) or ()
    meant = tuple(entry for entry in entries if _entry_name(entry, name_of) == topic)
    rest = tuple(entry for entry in entries if _entry_name(entry, name_of) != topic)
    if not meant or not rest:
        return request, None
    return replace(request, **{field: meant}), replace(request, **{field: rest})


def _names(struct: Struct, name_of: NameOf) -> Iterator[str]:
    for field, declared in type(struct).fields.items():
        value = getattr(struct, field)
        if not declared.is_array or value is None:
            continue
        if field in _NAME_ARRAYS:
            yield from value
        elif value and isinstance(value[0], Struct):
            yield from _names_in(field, value, name_of)


def _names_in(field: str, entries: tuple[Struct, ...], name_of: NameOf) -> Iterator[str]:
    for entry in entries:
        is_topic = field in _TOPIC_ARRAYS or getattr(entry, "resource_type", None) == _TOPIC_RESOURCE
        name = _entry_name(entry, name_of) if is_topic else None
        if name is not None:
            yield name
        yield from _names(entry, name_of)


def _entry_name(entry: Any, name_of: NameOf) -> str | None:
    """The topic that an entry is about, as far as it says."""
    if isinstance(entry, str):
        return entry
    topic_id = getattr(entry, "topic_id", ZERO_TOPIC_ID)
    if topic_id != ZERO_TOPIC_ID:
        return name_of(topic_id)
    if getattr(entry, "resource_type", _TOPIC_RESOURCE) != _TOPIC_RESOURCE:
        return None
    fields = (*_NAME_FIELDS, "resource_name")
    return next((name for field in fields if isinstance(name := getattr(entry, field, None), str)), None)
