"""What settings belong to."""

from enum import IntEnum
from typing import NamedTuple


class ResourceType(IntEnum):
    """What a setting may belong to; Kafka's numbers."""

    TOPIC = 2
    BROKER = 4
    CLIENT_METRICS = 16


class ConfigResource(NamedTuple):
    """Whose settings: a topic's or subscription's by name, a broker's by id, all brokers' by none."""

    type: ResourceType
    name: str


ALL_BROKERS = ConfigResource(ResourceType.BROKER, "")
