"""What settings belong to."""

from enum import IntEnum
from typing import NamedTuple


class ResourceType(IntEnum):
    """What a setting may belong to; Kafka's numbers."""

    TOPIC = 2
    BROKER = 4


class ConfigResource(NamedTuple):
    """Whose settings: a topic by name, a broker by id, or all brokers by the empty name."""

    type: ResourceType
    name: str


ALL_BROKERS = ConfigResource(ResourceType.BROKER, "")
