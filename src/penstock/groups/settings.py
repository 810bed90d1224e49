"""The limits and delays of groups, with Kafka's defaults. The shell fills them from the configuration."""

from dataclasses import dataclass
from enum import StrEnum

_MINUTE_MS = 60_000


class MigrationPolicy(StrEnum):
    """Which way a group with members may change its kind; their values are those of the setting."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"

    @property
    def allows_upgrade(self) -> bool:
        """Whether a classic group may become a consumer group."""
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)

    @property
    def allows_downgrade(self) -> bool:
        """Whether a consumer group may become a classic group."""
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


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
    group_consumer_session_timeout_ms: int = 45_000
    #: How often members of consumer groups are told to send heartbeats.
    group_consumer_heartbeat_interval_ms: int = 5_000
    group_consumer_max_size: int = 2_147_483_647
    #: By name; the first is taken when members do not choose.
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    group_consumer_migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL

    @property
    def offsets_retention_ms(self) -> int:
        """For how long offsets are kept that nobody needs."""
        return self.offsets_retention_minutes * _MINUTE_MS
