"""All that an analysis on Spark tells of a topic: what every analysis does, and what only Spark can count."""

from dataclasses import dataclass
from typing import Any

from penstock.analysis.partition_analysis import TopicAnalysis
from penstock.spark.analysis.heat_map import HeatMap
from penstock.spark.analysis.value_kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCount:
    """Messages that are of the same type."""

    kind: Kind
    type: str | None
    """What the messages say of themselves; None if nothing, or for all of the kind together."""
    messages: int
    message_bytes: int

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return {
            "kind": str(self.kind),
            "type": self.type,
            "messages": self.messages,
            "message_bytes": self.message_bytes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufGuess:
    """How many of some binary values look like Protobuf."""

    sampled: int = 0
    matching: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What compaction would do if it were done now, to all segments. Bytes are those before compression."""

    messages: int = 0
    message_bytes: int = 0
    removable_messages: int = 0
    """Older than another of the same key."""
    removable_bytes: int = 0
    tombstones: int = 0
    """The last of their keys: they go as well, once ``delete.retention.ms`` has passed."""
    tombstone_bytes: int = 0

    @property
    def share(self) -> float:
        """Of all bytes that would go at once."""
        return self.removable_bytes / self.message_bytes if self.message_bytes else 0.0

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return {
            "removable_messages": self.removable_messages,
            "removable_bytes": self.removable_bytes,
            "removable_share": round(self.share, 4),
            "last_tombstones": self.tombstones,
            "last_tombstone_bytes": self.tombstone_bytes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicReport:
    """A topic in numbers."""

    analysis: TopicAnalysis
    kinds: tuple[TypeCount, ...]
    """By kind alone, most messages first."""
    types: tuple[TypeCount, ...]
    """Those that say what they are, most messages first; at most ``tables.TYPES_MAX``."""
    protobuf: ProtobufGuess
    compaction: Compaction
    heat_map: HeatMap

    @property
    def topic(self) -> str:
        """Its name."""
        return self.analysis.topic

    @property
    def imbalance(self) -> float:
        """How many times more messages the largest partition has than all have on average; 1 is even."""
        counts = [one.statistics.message_count for one in self.analysis.partitions]
        return max(counts, default=0) * len(counts) / sum(counts) if sum(counts) else 1.0

    def as_json(self, *, top_max: int) -> dict[str, Any]:
        """All figures as plain values; those of ``penstock.analysis`` under the same names."""
        return {
            **self.analysis.as_json(top_max=top_max),
            "imbalance": round(self.imbalance, 3),
            "kinds": [one.as_json() for one in self.kinds],
            "types": [one.as_json() for one in self.types],
            "protobuf": {"sampled": self.protobuf.sampled, "matching": self.protobuf.matching},
            "compaction": self.compaction.as_json(),
            "heat_map": self.heat_map.as_json(),
        }
