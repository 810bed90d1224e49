"""Where reading begins: a cursor, an offset, a moment, or one of the two ends."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from penstock.gateway.errors import GatewayError
from penstock.gateway.rest.records.cursor import Cursor, parse_cursor
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.topics import READ_COMMITTED, READ_UNCOMMITTED, find_leaders, known_offsets_at

_EARLIEST = -2
_LATEST = -1


class End(StrEnum):
    """One of the two ends of a partition."""

    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What was asked for; at most one of ``cursor``, ``offset``, ``timestamp_ms`` and ``end``."""

    partition: int | None = None
    cursor: str | None = None
    offset: int | None = None
    timestamp_ms: int | None = None
    end: End | None = None

    def __post_init__(self) -> None:
        given = [self.cursor, self.offset, self.timestamp_ms, self.end]
        if sum(each is not None for each in given) > 1:
            raise GatewayError(422, "Give one of cursor, offset, timestamp and from, not several.")
        if self.offset is not None and self.partition is None:
            raise GatewayError(422, "An offset is one of a partition: give partition, too.")
        if self.cursor is not None and self.partition is not None:
            raise GatewayError(422, "A cursor says which partitions are read: leave partition out.")


def begin(cluster: Cluster, topic: str, start: Start, *, is_read_committed: bool) -> Cursor:
    """The offsets that ``start`` stands for at present."""
    partitions = topic_partitions(cluster, topic)
    if start.cursor is not None:
        return _resumed(cluster, topic, parse_cursor(start.cursor), partitions)
    chosen = partitions if start.partition is None else [start.partition]
    check_partitions(topic, chosen, partitions)
    if start.offset is not None:
        return Cursor(positions=dict.fromkeys(chosen, start.offset))
    moment = _EARLIEST if start.end is not End.LATEST else _LATEST
    if start.timestamp_ms is not None:
        moment = start.timestamp_ms
    level = READ_COMMITTED if is_read_committed else READ_UNCOMMITTED
    return Cursor(
        positions=found_offsets(cluster, topic, chosen, moment=moment, isolation_level=level),
        has_others=start.partition is None,
    )


def topic_partitions(cluster: Cluster, topic: str) -> list[int]:
    """The partitions of a topic; 404 if there is none of that name."""
    found = [each.partition for each in find_leaders(cluster, [topic])]
    if not found:
        raise GatewayError(
            404, f"There is no topic {topic!r}.", error_code=40401, error="UNKNOWN_TOPIC_OR_PARTITION"
        )
    return found


def check_partitions(topic: str, wanted: Iterable[int], there: Iterable[int]) -> None:
    """Refuse with 404 partitions that the topic does not have."""
    missing = sorted(set(wanted) - set(there))
    if missing:
        raise GatewayError(
            404,
            f"The topic {topic!r} has no partition {missing[0]}.",
            error_code=40402,
            error="UNKNOWN_TOPIC_OR_PARTITION",
        )


def found_offsets(
    cluster: Cluster, topic: str, partitions: Iterable[int], *, moment: int, isolation_level: int
) -> Mapping[int, int]:
    """The offset of each partition at a moment; after the youngest record, the end. 503 without a leader."""
    named = [TopicPartition(topic, number) for number in partitions]
    known = known_offsets_at(cluster, dict.fromkeys(named, moment), isolation_level=isolation_level)
    older = [each for each, offset in known.items() if offset is None]
    known |= known_offsets_at(cluster, dict.fromkeys(older, _LATEST), isolation_level=isolation_level)
    found = {each.partition: offset for each, offset in known.items() if offset is not None}
    for each in named:
        if each.partition not in found:
            raise GatewayError(
                503, f"Nobody leads {each} at present.", error_code=50003, error="LEADER_NOT_AVAILABLE"
            )
    return found


def _resumed(cluster: Cluster, topic: str, cursor: Cursor, partitions: list[int]) -> Cursor:
    check_partitions(topic, cursor.positions, partitions)
    others = [number for number in partitions if number not in cursor.positions]
    if not others or not cursor.has_others:
        return cursor
    found = found_offsets(cluster, topic, others, moment=_EARLIEST, isolation_level=READ_UNCOMMITTED)
    return Cursor(positions={**cursor.positions, **found}, has_others=True)
