"""What a member's process and the test that started it say to each other.

What a member tells before a commit is told whether the commit succeeds or not, so that one killed with -9 has
told of every record that it can have committed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.telling import given_orders, tell

Partition = tuple[str, int]
"""A topic's name and a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """How a member is to join."""

    bootstrap: str
    group: str
    topics: tuple[str, ...] = ()
    assignor: str = "range"
    instance_id: str | None = None
    session_timeout_ms: int = 2000
    heartbeat_interval_ms: int = 200
    protocol: str = "classic"
    """Or ``consumer``, where assignor, session timeout and heartbeat interval are the broker's."""


@dataclass(slots=True)
class Story:
    """Prints what happens to a member, and knows what it owns and what it has yet to commit."""

    owned: set[Partition] = field(default_factory=set)
    uncommitted: dict[Partition, int] = field(default_factory=dict)

    def assigned(self, generation: int, partitions: Iterable[Partition]) -> None:
        """Partitions came to this member."""
        added = sorted(partitions)
        self.owned |= set(added)
        self._tell("assigned", generation, partitions=added, owned=sorted(self.owned))

    def lost(self, generation: int, partitions: Iterable[Partition]) -> None:
        """The group went on without this member, which was silent for too long."""
        self._tell("lost", generation)
        self.revoked(generation, partitions)

    def revoked(self, generation: int, partitions: Iterable[Partition]) -> None:
        """Partitions went away, what of them was not committed is another's now."""
        removed = sorted(partitions)
        self.owned -= set(removed)
        for partition in removed:
            self.uncommitted.pop(partition, None)
        self._tell("revoked", generation, partitions=removed, owned=sorted(self.owned))

    def processed(self, generation: int, records: Sequence[tuple[str, int, int, str]]) -> None:
        """Topic, partition, offset and value of records that this member has dealt with."""
        if records:
            self._tell("processed", generation, records=records)
        for topic, partition, offset, _ in records:
            self.uncommitted[topic, partition] = offset + 1

    def committed(self, generation: int, offsets: Mapping[Partition, int]) -> None:
        """The broker acknowledged these positions."""
        for partition, offset in offsets.items():
            if self.uncommitted.get(partition) == offset:
                del self.uncommitted[partition]
        told = [(topic, number, offset) for (topic, number), offset in sorted(offsets.items())]
        self._tell("committed", generation, offsets=told)

    def failed(self, generation: int, what: str, error: object) -> None:
        """Something that a client may live through."""
        self._tell("failed", generation, what=what, error=f"{type(error).__name__}: {error}")

    def closed(self) -> None:
        """Left in good order."""
        self._tell("closed", -1)

    def _tell(self, event: str, generation: int, **facts: Any) -> None:
        tell(event, generation=generation, **facts)


def orders() -> Orders:
    """What this process was told."""
    given = given_orders()
    return Orders(**{**given, "topics": tuple(given["topics"])})
