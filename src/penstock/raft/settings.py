"""The numbers of the machine, in one place."""

from dataclasses import dataclass

from penstock.model.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftSettings:
    """Times are of a monotonic clock; the same on every node, give or take its drift."""

    #: A follower that hears nothing from a leader for this long, up to twice as long, wants an election.
    election_timeout_ms: int = 1_000
    #: At least this often a leader sends something to everybody.
    heartbeat_interval_ms: int = 150
    #: Of one AppendEntries; a single entry may be larger and then goes alone.
    append_bytes_max: int = 1024 * 1024
    append_entries_max: int = 1_000
    #: AppendEntries with entries, sent and not answered, to one replica.
    in_flight_max: int = 8
    snapshot_chunk_bytes: int = 256 * 1024
    #: Entries that are in the leader's log and not committed; a proposal above that is refused.
    uncommitted_bytes_max: int = 64 * 1024 * 1024
    #: Entries kept in memory for those who are nearly caught up.
    recent_bytes_max: int = 8 * 1024 * 1024
    #: An observer that has not answered for this long is no longer fed until it asks again.
    observer_timeout_ms: int = 10_000
    #: How long a new voter may take to catch up before its admission is refused.
    promotion_timeout_ms: int = 60_000

    def __post_init__(self) -> None:
        if not 0 < self.heartbeat_interval_ms * 2 <= self.election_timeout_ms:
            raise UsageError(
                f"A heartbeat every {self.heartbeat_interval_ms} ms is too seldom for elections after "
                f"{self.election_timeout_ms} ms: at least two must fit."
            )

    @property
    def quorum_timeout_ms(self) -> int:
        """How long a leader goes on without a majority."""
        return self.election_timeout_ms * 3 // 2
