"""What a run will do, as data drawn before it: machines, topics, workloads, and the faults that meet them.

Times are seconds after the topics are there. Nothing in here depends on what happens in the run, so that a
plan can be printed, kept, cut down and done again. Faults and workloads have numbers, their places in the
plan: a shortened plan is named by the seed and the numbers that were kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.sim.cluster.node import NodeSettings
from penstock.sim.workloads.kinds import WorkloadSettings

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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something bad at a moment."""

    at: float
    kind: FaultKind

    def __str__(self) -> str:
        return f"{self.at:.3f} s {self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """One client process and what it does."""

    name: str
    settings: WorkloadSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlan:
    """A topic that exists from the beginning."""

    name: str
    partition_count: int
    replication_factor: int
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What disks and links are like before anything is done to them."""

    disk_seconds_max: float
    link_seconds_max: float
    link_loss: float
    stream_cuts: float
    window_bytes: int
    client_timeout_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """Everything about one run."""

    seed: int
    nodes: tuple[NodeSettings, ...]
    topics: tuple[TopicPlan, ...]
    environment: Environment
    workloads: tuple[WorkloadPlan, ...]
    faults: tuple[Fault, ...]
    fault_seconds: float
    #: How long the healed cluster has to get everybody going again.
    settle_seconds: float
    #: The numbers of what is left in a shortened plan; None when nothing was taken away.
    kept_faults: tuple[int, ...] | None = None
    kept_workloads: tuple[int, ...] | None = None

    def shortened(self, faults: tuple[int, ...] | None, workloads: tuple[int, ...] | None) -> "ClusterPlan":
        """This plan with only the faults and workloads of these numbers; None keeps all."""
        return replace(
            self,
            faults=self.faults if faults is None else tuple(self.faults[number] for number in faults),
            workloads=(
                self.workloads if workloads is None else tuple(self.workloads[number] for number in workloads)
            ),
            kept_faults=faults,
            kept_workloads=workloads,
        )
