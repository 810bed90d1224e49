"""What is known of a log before it is opened."""

from dataclasses import dataclass

from penstock.storage.log_config import LogConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryHints:
    """What the data directory remembers of the log."""

    recovery_point: int = 0
    """Everything below was durable."""
    clean: bool = False
    """Whether the last process stopped in order; then the log ends at the recovery point."""
    sealed_offset: int | None = None
    """Everything below was durable too; kept more closely than the recovery point."""
    log_start_offset: int = 0
    """Nothing below may be read."""
    cleaned_offset: int = 0
    """Everything below has been compacted."""

    def durable_offset(self, config: LogConfig) -> int:
        """What must be there.

        A log's start is among it only where whatever is flushed is durable, which a topic can do without.
        """
        durable = max(self.recovery_point, self.sealed_offset or 0)
        return durable if config.flush_messages > 1 else max(durable, self.log_start_offset)
