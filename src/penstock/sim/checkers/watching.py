"""A god's eye: what no client can see, looked at while the brokers run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionView:
    """One partition on one broker, at one moment."""

    node: str
    boot: int
    topic_id: bytes
    name: str
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    flushed_offset: int
    log_end_offset: int


class Watcher(Protocol):
    """Looks on, and remembers what it must."""

    rule: str

    def look(self, views: Iterable[PartitionView]) -> Iterator[str]:
        """Say what is wrong."""
