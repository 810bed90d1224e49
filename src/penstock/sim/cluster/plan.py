"""What a run will do, as data drawn before it: machines, topics, workloads, and the faults that meet them.

Times are seconds after the topics are there. Nothing in here depends on what happens in the run, so that a
plan can be printed, kept, cut down and done again. Faults and workloads have numbers, their places in the
plan: a shortened plan is named by the seed and the numbers that were kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.sim.cluster.faults import Fault
from penstock.sim.cluster.node import NodeSettings
from penstock.sim.workloads.kinds import WorkloadSettings


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
    #: Kafka's settings for all brokers at once.
    cluster_configs: Mapping[str, str]
    environment: Environment
    workloads: tuple[WorkloadPlan, ...]
    faults: tuple[Fault, ...]
    fault_seconds: float
    #: A machine that is not healed with the others: they must get on without it, until everybody has ended.
    absent: str | None
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
