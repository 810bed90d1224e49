"""What a run will do, as data: steps of a workload, and the faults that meet them.

A plan is a list of *lives*. A life is one process: it starts on what the last one left, does its steps, and
ends in good order, by its own death, or by the machine's. Before the next one the disk may rot, and the
start itself may be interrupted. Nothing in here depends on what happens in the run, so two runs of one plan
are one.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """One batch for a partition; a producer's is sequenced and repeated until it is acknowledged."""

    partition: int
    producer: int | None
    record_count: int
    value_bytes: int


@dataclass(frozen=True, slots=True)
class Flush:
    """A round of group commit over all logs; what it covers is acknowledged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Time goes by; logs roll if they are due, the seal is written."""

    milliseconds: int


@dataclass(frozen=True, slots=True)
class Expire:
    """Retention runs over all logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRecords:
    """A log's start moves up over ``portion`` of what is acknowledged."""

    partition: int
    portion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate:
    """A follower's log is cut at ``portion`` of its length, as a new leader asks."""

    partition: int
    portion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A follower's log is dropped and begins anew: behind its end, or at an older batch."""

    partition: int
    portion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A pass of compaction over a log; ``map_bytes`` says how many keys fit."""

    partition: int
    map_bytes: int
    #: Whether everything is looked at between its steps.
    is_watched: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Recovery points, log starts and high watermarks are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLeader:
    """The partition's leader epoch goes up."""

    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FillDisk:
    """Somebody else takes the disk's room but for so many bytes."""

    room_bytes: int


@dataclass(frozen=True, slots=True)
class FreeDisk:
    """There is room again."""


@dataclass(frozen=True, slots=True)
class Look:
    """All logs are read and checked while they are in use."""


Step = (
    Append
    | Flush
    | Tick
    | Expire
    | DeleteRecords
    | Truncate
    | Restart
    | Compact
    | Checkpoint
    | NewLeader
    | FillDisk
    | FreeDisk
    | Look
)


class Outage(StrEnum):
    """How a process ends against its will."""

    PROCESS = "process"
    """It is killed: the page cache stays."""
    POWER = "power"
    """The machine goes: what was not flushed is kept, lost or torn by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The end comes in front of the ``ordinal``-th operation of that name; of any, if it is empty."""

    outage: Outage
    operation: str
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushFailure:
    """A flush of a file whose path holds ``path_part`` returns an error, after ``after`` good ones."""

    path_part: str
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A durable bit turns over in one of the files with this ending, between two lives."""

    suffix: str
    file_portion: float
    byte_portion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One process from start to end."""

    steps: tuple[Step, ...]
    #: Each interrupts one attempt to start; the attempt after the last one succeeds.
    start_stops: tuple[Stop, ...]
    #: What happens right after the start, which must then have the same outcome once more.
    repeat: Outage | None
    stop: Stop | None
    flush_failure: FlushFailure | None
    #: If nothing stops it: whether it closes in good order.
    closes: bool
    #: If nothing stops it and it does not close, or after a failed flush: what happens to it.
    outage: Outage
    damage: Damage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What differs between seeds besides the steps."""

    partitions: int
    producers: int
    segment_bytes: int
    index_interval_bytes: int
    segment_ms: int
    retention_ms: int
    retention_bytes: int
    preallocate: bool
    tail_cache_bytes: int
    #: How many keys records have, in a compacted topic; 0 in one that is not.
    keys: int = 0
    delete_retention_ms: int = 0
    #: Whether a compacted topic also lets old segments go.
    deletes: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlan:
    """Everything about one run but what chance does on the disk."""

    seed: int
    settings: Settings
    lives: tuple[Life, ...]

    @property
    def fault_count(self) -> int:
        """How many times this plan hurts."""
        return sum(
            len(life.start_stops)
            + (life.stop is not None)
            + (life.flush_failure is not None)
            + (life.damage is not None)
            + (not life.closes)
            + sum(isinstance(step, FillDisk) for step in life.steps)
            for life in self.lives
        )
