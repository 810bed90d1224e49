"""Topics that were deleted and made anew: their offsets begin at zero again, and must not be mixed up.

A topic's id tells one incarnation from the next. Offsets are compared within one incarnation only. Brokers
older than ids (KIP-516, Kafka 2.8) cannot tell us; to us such a topic is always the same.
"""

from typing import NamedTuple

UNKNOWN_ID = ""

TopicIds = tuple[str, ...]
"""The ids that a topic had, oldest first."""


class Log(NamedTuple):
    """One partition of one incarnation of a topic: within it an offset names one record for ever."""

    topic: str
    incarnation: int
    partition: int

    def __str__(self) -> str:
        again = f" (made anew {self.incarnation} times)" if self.incarnation else ""
        return f"{self.topic}-{self.partition}{again}"


class Incarnation(NamedTuple):
    """Which incarnation an id means, and all ids of the topic with it."""

    number: int
    ids: TopicIds


def incarnation_of(ids: TopicIds, topic_id: str | None) -> Incarnation:
    """The incarnation with that id: one that is known, or the next. None means the latest there is."""
    if not ids:
        return Incarnation(0, (topic_id or UNKNOWN_ID,))
    if not topic_id:
        return Incarnation(len(ids) - 1, ids)
    if topic_id in ids:
        return Incarnation(ids.index(topic_id), ids)
    if ids[-1] == UNKNOWN_ID:
        return Incarnation(len(ids) - 1, (*ids[:-1], topic_id))
    return Incarnation(len(ids), (*ids, topic_id))
