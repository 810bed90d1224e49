"""Everything bad that a plan can hold, as data.

Most faults name whom they meet. Some look that up at their moment, since nobody knows beforehand who will
lead; what came of it is in the run's story.
"""

from dataclasses import dataclass
from enum import StrEnum

Pairs = tuple[tuple[str, str], ...]


class Outage(StrEnum):
    """How a process ends against its will."""

    PROCESS = "process"
    POWER = "power"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """A broker is gone for a while, by its own death or by its machine's."""

    node: str
    outage: Outage
    down_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KillAtOperation:
    """The same, in front of an operation on its disk; it may never come to that."""

    node: str
    outage: Outage
    operation: str
    path_part: str
    ordinal: int
    down_seconds: float
    #: So long after it is up again it loses power; None if it does not.
    aftershock_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A broker is told to stop, and started again."""

    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A process, of a broker or a client, stands still for a while."""

    host: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KillClient:
    """A client's process ends and begins anew later, or never."""

    host: str
    down_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Directions between hosts let nothing pass for a while."""

    pairs: Pairs
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowLink:
    """Directions between hosts take longer for a while."""

    pairs: Pairs
    extra_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetConnections:
    """All connections between two hosts break."""

    one: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetConnections:
    """All connections between two hosts go nowhere, and neither end is told."""

    one: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldConnections:
    """What is on the present connections between two hosts arrives late, while new ones are quick."""

    one: str
    other: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowDisk:
    """A disk takes longer for a while."""

    node: str
    job_seconds_max: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StallDisk:
    """A disk does nothing for a while."""

    node: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FailFlush:
    """A flush returns an error; pages that did not reach the platter count as clean afterwards."""

    node: str
    path_part: str
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FillDisk:
    """Somebody else takes the disk's room but for some bytes, for a while."""

    node: str
    room_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveWall:
    """A wall clock jumps."""

    node: str
    milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """Whoever decides on metadata at that moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderOf:
    """Whoever leads a partition at that moment, as the metadata log says."""

    topic: str
    partition: int


Somebody = Controller | LeaderOf


class Way(StrEnum):
    """Which directions of somebody's links are cut."""

    BOTH = "both"
    DEAF = "deaf"
    MUTE = "mute"


@dataclass(frozen=True, slots=True, kw_only=True)
class KillSomebody:
    """A broker that matters is gone for a while."""

    whom: Somebody
    outage: Outage
    down_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSomebody:
    """A broker that matters stands still for a while, and believes when it goes on that nothing happened."""

    whom: Somebody
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolateSomebody:
    """A broker that matters is cut off from the others, and perhaps from clients too."""

    whom: Somebody
    way: Way
    with_clients: bool
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KillAll:
    """All brokers end at one moment, and come back one after the other."""

    outage: Outage
    #: How long each is gone.
    down_seconds: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingRestart:
    """Brokers are told to stop and started again, each when the one before is back."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinNode:
    """A machine with an empty disk is switched on for the first time."""

    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decommission:
    """Somebody has a broker emptied, and switches it off when that is done."""

    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeDisk:
    """A machine loses power and its disk; it comes back with an empty one, and joins as somebody new."""

    node: str
    down_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoilLog:
    """A machine loses power, and a bit turns over in a log of a topic before it is back."""

    node: str
    topic: str
    down_seconds: float


Upheaval = (
    KillSomebody
    | PauseSomebody
    | IsolateSomebody
    | KillAll
    | RollingRestart
    | JoinNode
    | Decommission
    | WipeDisk
    | SpoilLog
)
"""What only clusters know."""

FaultKind = (
    Kill
    | KillAtOperation
    | Restart
    | Pause
    | KillClient
    | Cut
    | SlowLink
    | ResetConnections
    | ForgetConnections
    | HoldConnections
    | SlowDisk
    | StallDisk
    | FailFlush
    | FillDisk
    | MoveWall
    | Upheaval
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something bad at a moment."""

    at: float
    kind: FaultKind

    def __str__(self) -> str:
        return f"{self.at:.3f} s {self.kind}"
