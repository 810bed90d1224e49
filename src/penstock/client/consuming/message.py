"""One message, as it was read.

A consumer makes one per message, so it is a thin shell round librdkafka's own: fields are taken out, and keys
and values deserialized, when somebody looks at them. They are made a list at a time, without a call of a
function written in Python for each.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat, starmap
from typing import Any, TypeVar

from penstock.client.consuming.raw_headers import readable_headers
from penstock.client.errors import SerializationError
from penstock.client.serializers import Deserializer
from penstock.client.topic_partition import TopicPartition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Message:
    """A message; none of its fields can be set."""

    __slots__ = ("_raw",)

    _raw: Any

    @property
    def topic(self) -> str:
        """Where it was read."""
        return self._raw.topic()  # type: ignore[no-any-return]

    @property
    def partition(self) -> int:
        """Where it was read."""
        return self._raw.partition()  # type: ignore[no-any-return]

    @property
    def topic_partition(self) -> TopicPartition:
        """Both of these."""
        return TopicPartition(self._raw.topic(), self._raw.partition())

    @property
    def offset(self) -> int:
        """Its name in the partition, for ever."""
        return self._raw.offset()  # type: ignore[no-any-return]

    @property
    def key(self) -> Any:
        """As ``key_deserializer`` makes it; None if it has none."""
        return self._raw.key()

    @property
    def value(self) -> Any:
        """As ``value_deserializer`` makes it; None for a tombstone."""
        return self._raw.value()

    @property
    def raw_key(self) -> bytes | None:
        """The key's bytes."""
        return self._raw.key()  # type: ignore[no-any-return]

    @property
    def raw_value(self) -> bytes | None:
        """The value's bytes."""
        return self._raw.value()  # type: ignore[no-any-return]

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """Names and values, in the order they were sent; SerializationError if a name is not UTF-8."""
        headers = readable_headers(self._raw)
        if headers is None:
            raise SerializationError(
                f"A header of the message at {self.topic_partition}, offset {self.offset}, has a name that "
                "is not UTF-8",
                code="INVALID_RECORD",
            )
        return tuple(headers)

    @property
    def timestamp_ms(self) -> int:
        """Milliseconds since 1970: when it was sent, or stored, as the topic says; -1 if it has none."""
        return self._raw.timestamp()[1]  # type: ignore[no-any-return]

    @property
    def timestamp(self) -> datetime | None:
        """The same as a datetime in UTC."""
        milliseconds = self._raw.timestamp()[1]
        return None if milliseconds < 0 else _EPOCH + timedelta(milliseconds=milliseconds)

    @property
    def leader_epoch(self) -> int | None:
        """Of the leader that stored it."""
        return self._raw.leader_epoch()  # type: ignore[no-any-return]

    def __len__(self) -> int:
        """Bytes of the value."""
        return len(self._raw.value() or b"")

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.topic, self.partition, self.offset))

    def __repr__(self) -> str:
        return (
            f"Message(topic={self.topic!r}, partition={self.partition}, offset={self.offset}, "
            f"timestamp_ms={self.timestamp_ms}, key={self.raw_key!r}, value={self.raw_value!r})"
        )

    def _identity(self) -> tuple[Any, ...]:
        return (
            *self.topic_partition,
            self.offset,
            self.timestamp_ms,
            self.raw_key,
            self.raw_value,
            readable_headers(self._raw),
        )


class DecodedMessage(Message):
    """A message with deserializers."""

    __slots__ = ("_formats",)

    _formats: "Formats"

    @property
    def key(self) -> Any:
        """As ``key_deserializer`` makes it; None if it has none."""
        data = self._raw.key()
        return None if data is None else self._decoded(self._formats.key, data, "key")

    @property
    def value(self) -> Any:
        """As ``value_deserializer`` makes it; None for a tombstone."""
        data = self._raw.value()
        return None if data is None else self._decoded(self._formats.value, data, "value")

    def _decoded(self, decode: Deserializer | None, data: bytes, what: str) -> Any:
        if decode is None:
            return data
        try:
            return decode(data)
        except Exception as error:
            where = f"{self.topic}-{self.partition} at offset {self.offset}"
            raise SerializationError(
                f"The {what}_deserializer failed for the message of {where}: {error!r}",
                code="INVALID_RECORD",
                advice=f"Skip it, or look at message.raw_{what}.",
            ) from error


Shell = TypeVar("Shell", bound=Message)


class Formats:
    """How keys and values are deserialized; None where bytes stay as they are."""

    __slots__ = ("key", "value")

    def __init__(self, key: Deserializer | None, value: Deserializer | None) -> None:
        self.key = key
        self.value = value

    def messages(self, raw: Sequence[Any]) -> list[Message]:
        """Ours for librdkafka's."""
        if self.key is None and self.value is None:
            return _shells(Message, raw)
        made = _shells(DecodedMessage, raw)
        for message in made:
            message._formats = self
        return made  # type: ignore[return-value]


def _shells(kind: type[Shell], raw: Sequence[Any]) -> list[Shell]:
    """One round each; Python makes objects fastest by ``starmap`` and sets slots fastest in a loop."""
    made = list(starmap(kind, repeat((), len(raw))))
    for message, inside in zip(made, raw, strict=True):
        message._raw = inside
    return made
