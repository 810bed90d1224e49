"""What a leader begins with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.ids import Millis, NodeId, Offset

REPLICA_LAG_MAX_MS = 30_000
"""Kafka's default of ``replica.lag.time.max.ms``."""

_BEGINNING = Millis(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderStart:
    """The state of a replica's log, and what is known of brokers, at the moment it becomes leader."""

    #: As far as it was known to the replica; committed, if not all that is.
    high_watermark: Offset
    flushed_offset: int
    log_end_offset: Offset
    #: ``replica.lag.time.max.ms``: how long a follower may be behind and still be in sync.
    lag_max_ms: int = REPLICA_LAG_MAX_MS
    #: Active brokers and the epochs of their processes.
    broker_epochs: Mapping[NodeId, int] = field(default_factory=dict)
    now: Millis = _BEGINNING
