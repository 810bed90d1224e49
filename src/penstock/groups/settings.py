"""The limits and delays of groups, with Kafka's defaults. The shell fills them from the configuration."""

from dataclasses import dataclass

_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """What an operator may choose about groups; every field is named after its setting."""

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 30 * _MINUTE_MS
    group_max_size: int = 2_147_483_647
    #: How long a new group waits for more members before its first generation.
    group_initial_rebalance_delay_ms: int = 3_000
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_minutes: int = 7 * 24 * 60
    offsets_retention_check_interval_ms: int = 10 * _MINUTE_MS
    #: How long the first JoinGroup of a member may wait. It has no id yet, so no heartbeat can tell that it
    #: is gone, and clients that give up and try again would leave a crowd of ghosts in the round.
    new_member_join_timeout_ms: int = 5 * _MINUTE_MS

    @property
    def offsets_retention_ms(self) -> int:
        """For how long offsets are kept that nobody needs."""
        return self.offsets_retention_minutes * _MINUTE_MS
