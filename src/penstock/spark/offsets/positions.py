"""Places in partitions as options name them, before anybody has looked where that is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from penstock.model.ids import TopicPartition


class Place(StrEnum):
    """What a position is measured from."""

    EARLIEST = "earliest"
    LATEST = "latest"
    OFFSET = "offset"
    BEFORE_END = "records before the end"
    TIMESTAMP = "timestamp"
    AGO = "time ago"


class Position(NamedTuple):
    """A place, and the number that belongs to it: an offset, a count, a timestamp or milliseconds."""

    place: Place
    number: int = 0

    def __str__(self) -> str:
        return str(self.place) if self.place in (Place.EARLIEST, Place.LATEST) else _WORDS[self.place](self)


_WORDS = {
    Place.OFFSET: lambda position: f"offset {position.number}",
    Place.BEFORE_END: lambda position: f"{position.number} records before the end",
    Place.TIMESTAMP: lambda position: f"timestamp {position.number}",
    Place.AGO: lambda position: f"{position.number} ms ago",
}

MOVING = frozenset({Place.LATEST, Place.BEFORE_END, Place.AGO})
"""What is elsewhere when it is looked up again, as soon as something was written or time has passed."""

EARLIEST = Position(Place.EARLIEST)
LATEST = Position(Place.LATEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """Where reading begins, or ends, in every partition."""

    option: str
    """The option that says so, for whoever has to be told that it cannot be."""
    everywhere: Position | None = None
    topics: Mapping[str, Position] = field(default_factory=dict)
    partitions: Mapping[TopicPartition, Position] = field(default_factory=dict)

    def position(self, partition: TopicPartition) -> Position | None:
        """The one named for the partition, or for its topic, or for all; None where nothing is named."""
        named = self.partitions.get(partition)
        return named or self.topics.get(partition.topic) or self.everywhere

    def positions(self) -> list[tuple[str, Position]]:
        """Everything that is named, with what it is named for."""
        named = [(str(partition), position) for partition, position in self.partitions.items()]
        named += [(f"topic {topic}", position) for topic, position in self.topics.items()]
        return named if self.everywhere is None else [*named, ("all partitions", self.everywhere)]

    def places(self) -> set[Place]:
        """Of everything that is named."""
        return {position.place for _, position in self.positions()}

    def named_topics(self) -> set[str]:
        """Topics that it speaks of by name."""
        return {*self.topics, *(partition.topic for partition in self.partitions)}
