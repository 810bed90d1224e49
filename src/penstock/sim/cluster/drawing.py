"""Drawing plans from seeds.

Every seed draws its own habits first: which workloads, which faults, how slow the disks, how small the
segments. Runs that all do a little of everything are all alike. Outages are placed at operations of the disk
as often as at times, since the windows around a flush or a rename are where the bugs are.

Nothing is injected beyond what is promised: one broker alone keeps what it acknowledged through any number of
crashes and outages, through one failed flush in ten minutes (after two it refuses to start, and a person has
to look), and through a full disk.
"""

from dataclasses import dataclass
from random import Random

from penstock.sim.cluster.drawing_faults import FaultHabits, draw_faults
from penstock.sim.cluster.drawing_workloads import COPIES, SOURCE, draw_workloads
from penstock.sim.cluster.node import NodeSettings
from penstock.sim.cluster.plan import ClusterPlan, Environment, TopicPlan, WorkloadPlan
from penstock.sim.workloads.copier import CopierSettings

FAULT_SECONDS = 12.0
SETTLE_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Habits:
    """What all machines of this seed have in common."""

    partitions: int
    segment_bytes: int
    index_interval_bytes: int
    tail_cache_bytes: int
    checkpoint_interval_ms: int


def draw_plan(seed: int, *, node_count: int = 1) -> ClusterPlan:
    """The one plan of a seed for a cluster of that size."""
    draw = Random(f"{seed}/plan")
    habits = _Habits(
        partitions=draw.choice((1, 2, 3)),
        segment_bytes=draw.choice((1000, 4000, 20_000, 1_000_000)),
        index_interval_bytes=draw.choice((1, 200, 4096)),
        tail_cache_bytes=draw.choice((0, 2000, 1_000_000)),
        checkpoint_interval_ms=draw.choice((1000, 5000, 60_000)),
    )
    nodes = tuple(_draw_node(draw, habits, seed, number) for number in range(1, node_count + 1))
    environment = _draw_environment(draw)
    workloads = draw_workloads(Random(f"{seed}/workloads"), habits.partitions)
    faults = draw_faults(
        Random(f"{seed}/faults"),
        FaultHabits.draw(Random(f"{seed}/habits")),
        nodes=tuple(node.name for node in nodes),
        clients=tuple(each.name for each in workloads),
        seconds=FAULT_SECONDS,
    )
    return ClusterPlan(
        seed=seed,
        nodes=nodes,
        topics=_topics(habits, workloads, min(3, node_count)),
        environment=environment,
        workloads=workloads,
        faults=faults,
        fault_seconds=FAULT_SECONDS,
        settle_seconds=SETTLE_SECONDS,
    )


def _draw_node(draw: Random, habits: _Habits, seed: int, number: int) -> NodeSettings:
    flags = {
        "offsets.topic.num.partitions": str(draw.choice((1, 2))),
        "offsets.topic.segment.bytes": str(draw.choice((1000, 1_000_000))),
        "transaction.state.log.num.partitions": str(draw.choice((1, 2))),
        "tail.cache.bytes": str(habits.tail_cache_bytes),
        "log.flush.offset.checkpoint.interval.ms": str(habits.checkpoint_interval_ms),
        "group.min.session.timeout.ms": "500",
        "group.initial.rebalance.delay.ms": str(draw.choice((0, 100, 500))),
        "auto.create.topics.enable": "false",
        "disk.reserve.bytes": "100000",
    }
    return NodeSettings(
        name=f"broker-{number}",
        node_id=number,
        flags=flags,
        drift=draw.choice((1.0, 1.0, 0.97, 1.03)),
        wall_offset_ms=draw.choice((0, 0, -60_000, 60_000)),
        has_kernel_flush=Random(f"{seed}/kernel/{number}").random() < 0.5,
    )


def _draw_environment(draw: Random) -> Environment:
    return Environment(
        disk_seconds_max=draw.choice((0.001, 0.01, 0.1)),
        link_seconds_max=draw.choice((0.001, 0.005, 0.03)),
        link_loss=draw.choice((0.0, 0.0, 0.01, 0.05)),
        stream_cuts=draw.choice((0.02, 0.3)),
        window_bytes=draw.choice((700, 4096, 65536)),
        client_timeout_seconds=draw.choice((0.7, 2.0)),
    )


def _topics(
    habits: _Habits, workloads: tuple[WorkloadPlan, ...], replication_factor: int
) -> tuple[TopicPlan, ...]:
    configs = {
        "segment.bytes": str(habits.segment_bytes),
        "index.interval.bytes": str(habits.index_interval_bytes),
        "retention.ms": "-1",
    }
    is_copied = any(isinstance(each.settings, CopierSettings) for each in workloads)
    return tuple(
        TopicPlan(
            name=name,
            partition_count=habits.partitions,
            replication_factor=replication_factor,
            configs=configs,
        )
        for name in ((SOURCE, COPIES) if is_copied else (SOURCE,))
    )
