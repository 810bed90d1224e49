"""What a log shows to whoever looks at it: all that the invariants compare with the promises."""

from dataclasses import dataclass
from typing import NamedTuple

from penstock.records.batch import BatchHeader


class Seen(NamedTuple):
    """A batch that was served as good."""

    header: BatchHeader
    data: bytes


class Refusal(NamedTuple):
    """A read at ``offset`` was refused because of damage."""

    offset: int
    reason: str


class ProducerSeen(NamedTuple):
    """What a log knows of a producer's newest batch."""

    epoch: int
    last_sequence: int
    last_offset: int


class Lookup(NamedTuple):
    """A question to an index, and the offset it led to."""

    wanted: int
    found: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One log as it is after a start."""

    partition: int
    log_start: int
    log_end: int
    flushed: int
    batches: tuple[Seen, ...]
    refusals: tuple[Refusal, ...]
    #: What the log says about its own state when it takes no writes; None when it is sound.
    offline_reason: str | None
    #: Whether the start said that it cut something off.
    truncation_reported: bool
    producers: dict[int, ProducerSeen]
    epochs: tuple[tuple[int, int], ...]
    #: Asked: an offset. Found: the first offset of the batch that was served.
    by_offset: tuple[Lookup, ...]
    #: Asked: a time. Found: the offset of the first record at or after it.
    by_time: tuple[Lookup, ...]
    #: What was served and is no batch at all.
    nonsense: tuple[str, ...]

    @property
    def reports_damage(self) -> bool:
        """Whether anybody who asks learns that something is wrong."""
        return bool(self.refusals) or self.offline_reason is not None
