"""Drawing plans from seeds.

Every seed draws its own habits first: how many brokers, which workloads, which faults, how slow the disks,
how small the segments. Runs that all do a little of everything are all alike. Outages are placed at
operations of the disk as often as at times, since the windows around a flush or a rename are where the bugs
are.

Nothing is injected beyond what is promised. What was acknowledged by all that are in sync outlives any number
of crashes and outages, of all machines at once too, one failed flush of each in ten minutes (after two a
broker refuses to start, and a person has to look), and full disks. It outlives the loss of one disk, too,
where at least two must be in sync; so a disk is lost only there, and only one. Only there, too, are the
healed expected to do without one of them: elsewhere that one may have been the last in sync.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from penstock.sim.cluster.drawing_faults import FaultHabits, draw_faults
from penstock.sim.cluster.drawing_upheavals import ClusterFacts
from penstock.sim.cluster.drawing_workloads import COPIES, SOURCE, TopicHabits, draw_workloads
from penstock.sim.cluster.node import PORT, NodeSettings
from penstock.sim.cluster.plan import ClusterPlan, Environment, TopicPlan, WorkloadPlan
from penstock.sim.workloads.administrator import MIN_IN_SYNC
from penstock.sim.workloads.copier import CopierSettings

FAULT_SECONDS = 12.0
SETTLE_SECONDS = 15.0
NODE_COUNTS = (1, 3, 3, 3, 3, 3, 5)
"""How many brokers a seed may have, each as often as it stands here."""


_SELDOM_CHECKPOINTED = {
    "metadata.log.max.record.bytes.between.snapshots": "1000000",
    "log.flush.offset.checkpoint.interval.ms": "60000",
}
"""So that there is something for rot to strike: what lies below a recovery point is not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Habits:
    """What all machines of this seed have in common."""

    partitions: int
    segment_bytes: int
    index_interval_bytes: int
    #: Kafka's settings of brokers.
    flags: Mapping[str, str]
    #: How wrong all clocks are.
    wall_offset_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """How large the cluster is, how patient, and what it may lose."""

    node_count: int
    joiner_count: int
    replication_factor: int
    min_in_sync: int
    may_lose_disk: bool
    #: A machine that stays away when all others are healed.
    absent: str | None
    #: Kafka's settings that make brokers as impatient as the seed has them.
    flags: Mapping[str, str]

    @property
    def must_be_safe(self) -> bool:
        """Whether one broker less must make no difference, so that nobody may lower any minimum."""
        return self.may_lose_disk or self.absent is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there from the beginning, then those that come later."""
        return tuple(f"broker-{number + 1}" for number in range(self.node_count + self.joiner_count))


def draw_node_count(seed: int) -> int:
    """How many brokers a seed has, unless somebody decides otherwise."""
    return Random(f"{seed}/nodes").choice(NODE_COUNTS)


def draw_plan(seed: int, *, node_count: int | None = None) -> ClusterPlan:
    """The one plan of a seed for a cluster of that size."""
    draw = Random(f"{seed}/plan")
    size = _draw_size(Random(f"{seed}/size"), node_count or draw_node_count(seed))
    habits = _Habits(
        partitions=draw.choice((1, 2, 3)),
        segment_bytes=draw.choice((1000, 4000, 20_000, 1_000_000)),
        index_interval_bytes=draw.choice((1, 200, 4096)),
        flags=_draw_flags(draw, size),
        wall_offset_ms=draw.choice((0, 0, -60_000, 60_000)),
    )
    nodes = tuple(_draw_node(draw, habits, size, seed, number) for number in range(len(size.names)))
    environment = _draw_environment(draw)
    workloads = draw_workloads(Random(f"{seed}/workloads"), _topic_habits(habits, size))
    topics = _topics(habits, workloads, size)
    fault_habits = FaultHabits.draw(Random(f"{seed}/habits"), is_cluster=size.node_count > 1)
    faults = draw_faults(
        Random(f"{seed}/faults"),
        fault_habits,
        facts=_facts(size, topics, fault_habits),
        clients=tuple(each.name for each in workloads),
        seconds=FAULT_SECONDS,
    )
    return ClusterPlan(
        seed=seed,
        nodes=nodes,
        topics=topics,
        cluster_configs={MIN_IN_SYNC: str(size.min_in_sync)} if size.node_count > 1 else {},
        environment=environment,
        workloads=workloads,
        faults=faults,
        absent=size.absent,
        fault_seconds=FAULT_SECONDS,
        settle_seconds=SETTLE_SECONDS,
    )


def _draw_size(draw: Random, node_count: int) -> _Size:
    if node_count == 1:
        return _Size(
            node_count=1,
            joiner_count=0,
            replication_factor=1,
            min_in_sync=1,
            may_lose_disk=False,
            absent=None,
            flags={},
        )
    replication_factor = draw.choice((1, 2, 3, 3, 3, 3))
    min_in_sync = draw.choice((1, 2)) if replication_factor > 1 else 1
    is_safe = replication_factor == 3 and min_in_sync == 2
    may_lose_disk = is_safe and draw.random() < 0.25
    may_be_absent = is_safe and not may_lose_disk and draw.random() < 0.4
    return _Size(
        node_count=node_count,
        joiner_count=0 if may_lose_disk or may_be_absent else draw.choice((0, 0, 0, 1)),
        replication_factor=replication_factor,
        min_in_sync=min_in_sync,
        may_lose_disk=may_lose_disk,
        absent=f"broker-{draw.randint(1, node_count)}" if may_be_absent else None,
        flags={
            "broker.session.timeout.ms": str(draw.choice((500, 1000, 1500))),
            "broker.heartbeat.interval.ms": str(draw.choice((100, 200))),
            "controller.quorum.election.timeout.ms": str(draw.choice((200, 400, 600))),
            "replica.lag.time.max.ms": str(draw.choice((500, 1000, 3000))),
            "metadata.log.max.record.bytes.between.snapshots": str(draw.choice((1000, 10_000, 1_000_000))),
            **(_SELDOM_CHECKPOINTED if may_lose_disk else {}),
        },
    )


def _draw_flags(draw: Random, size: _Size) -> dict[str, str]:
    return {
        "offsets.topic.num.partitions": str(draw.choice((1, 2))),
        "offsets.topic.segment.bytes": str(draw.choice((1000, 1_000_000))),
        "transaction.state.log.num.partitions": str(draw.choice((1, 2))),
        "tail.cache.bytes": str(draw.choice((0, 2000, 1_000_000))),
        "log.flush.offset.checkpoint.interval.ms": str(draw.choice((1000, 5000, 60_000))),
        "group.min.session.timeout.ms": "500",
        "group.initial.rebalance.delay.ms": str(draw.choice((0, 100, 500))),
        "auto.create.topics.enable": "false",
        "disk.reserve.bytes": "100000",
        **size.flags,
    }


def _draw_node(draw: Random, habits: _Habits, size: _Size, seed: int, place: int) -> NodeSettings:
    name = size.names[place]
    return NodeSettings(
        name=name,
        is_founder=place == 0,
        is_early=place < size.node_count,
        others=tuple(f"{other}:{PORT}" for other in size.names[: size.node_count] if other != name),
        flags=habits.flags,
        drift=draw.choice((1.0, 1.0, 0.97, 1.03)),
        # Deadlines of transactions are written down as wall time: if brokers differ, somebody waits for long.
        wall_offset_ms=habits.wall_offset_ms + (draw.choice((0, 0, -300, 300)) if place else 0),
        has_kernel_flush=Random(f"{seed}/kernel/{place + 1}").random() < 0.5,
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


def _topic_habits(habits: _Habits, size: _Size) -> TopicHabits:
    return TopicHabits(
        partitions=habits.partitions,
        replication_factor=size.replication_factor,
        node_count=size.node_count,
        may_lose_disk=size.may_lose_disk,
        minimums=() if size.must_be_safe or size.replication_factor == 1 else (1, 2),
    )


def _facts(size: _Size, topics: tuple[TopicPlan, ...], habits: FaultHabits) -> ClusterFacts:
    return ClusterFacts(
        nodes=size.names[: size.node_count],
        joiners=size.names[size.node_count :],
        topics=tuple((topic.name, topic.partition_count) for topic in topics),
        replication_factor=size.replication_factor,
        may_lose_disk=size.may_lose_disk,
        stays_as_it_is=size.absent is not None,
        power=habits.power,
    )


def _topics(habits: _Habits, workloads: tuple[WorkloadPlan, ...], size: _Size) -> tuple[TopicPlan, ...]:
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
            replication_factor=size.replication_factor,
            configs=configs if size.node_count == 1 else {**configs, MIN_IN_SYNC: str(size.min_in_sync)},
        )
        for name in ((SOURCE, COPIES) if is_copied else (SOURCE,))
    )
