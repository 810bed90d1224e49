"""What a follower begins with."""

from dataclasses import dataclass

from penstock.model.ids import Offset

FETCH_RETRY_MS = 1_000
"""Kafka's default of ``replica.fetch.backoff.ms``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerStart:
    """The state of a replica's log at the moment it begins to follow."""

    log_start_offset: int
    log_end_offset: int
    flushed_offset: int
    high_watermark: Offset
    #: Whether the topic allows unclean elections, or accepts that a crash costs records: then committed
    #: ones may be cut off.
    may_lose_committed: bool = False
    retry_ms: int = FETCH_RETRY_MS
