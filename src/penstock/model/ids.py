"""Identifiers and positions as types, so that an offset is never passed for an epoch.

Topic ids are 16 raw bytes, as the wire carries them: hashing and comparing them costs nothing. People see
them in Kafka's text form, URL-safe base64 without padding.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple, NewType

Millis = NewType("Millis", int)
"""Milliseconds: of the wall clock where a timestamp is meant, of a monotonic one where a duration is."""

NodeId = NewType("NodeId", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
ProducerId = NewType("ProducerId", int)
TopicId = NewType("TopicId", bytes)

NO_PRODUCER_ID = ProducerId(-1)
NO_OFFSET = Offset(-1)
NO_EPOCH = LeaderEpoch(-1)
ZERO_TOPIC_ID = TopicId(bytes(16))


class TopicPartition(NamedTuple):
    """A partition by its topic's name."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def uuid_to_text(raw: bytes) -> str:
    """Kafka's text form of a UUID: 22 characters."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def uuid_from_text(text: str) -> bytes:
    """The 16 bytes behind Kafka's text form."""
    raw = urlsafe_b64decode(text + "==")
    if len(raw) != 16:
        raise ValueError(f"{text!r} is not a 22-character UUID")
    return raw
