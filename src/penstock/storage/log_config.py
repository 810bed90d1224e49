"""What a log is told about itself: Kafka's topic settings that matter to files, with Kafka's defaults.

One default is ours: ``flush_messages`` is 1, because acknowledged means on disk.
"""

from dataclasses import dataclass

DAY_MS = 24 * 60 * 60 * 1000
UNLIMITED = -1
FOREVER_MS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The settings of one log. A changed setting is a new value given to ``Log.configure``."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * DAY_MS
    retention_bytes: int = UNLIMITED
    flush_messages: int = 1
    """Records that may wait for a flush; above 1, written is as good as flushed for ``flushed_offset``."""
    flush_ms: int = FOREVER_MS
    max_message_bytes: int = 1024 * 1024 + 12
    preallocate: bool = False
    file_delete_delay_ms: int = 60_000
    cleanup_policy: frozenset[str] = frozenset({"delete"})
    log_append_time: bool = False
    """Whether the broker's clock replaces the producers' timestamps."""
    producer_id_expiration_ms: int = DAY_MS
    delete_retention_ms: int = DAY_MS
    """How long a tombstone stays in a compacted log, from the first pass that met it."""
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = FOREVER_MS
    min_cleanable_dirty_ratio: float = 0.5

    @property
    def is_compacted(self) -> bool:
        """Whether offsets may have gaps, since compaction takes records out."""
        return "compact" in self.cleanup_policy

    @property
    def roll_ms(self) -> int:
        """How old the active segment may become: compaction cannot reach it before it is put aside."""
        return min(self.segment_ms, self.max_compaction_lag_ms) if self.is_compacted else self.segment_ms

    @property
    def deletes_old_segments(self) -> bool:
        """Whether retention by time and size applies."""
        return "delete" in self.cleanup_policy
