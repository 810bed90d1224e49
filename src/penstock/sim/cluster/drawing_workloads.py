"""Which clients a seed has, and how they behave."""

from dataclasses import dataclass, replace
from random import Random

from penstock.sim.cluster.plan import WorkloadPlan
from penstock.sim.workloads.administrator import AdministratorSettings, SharedTopic
from penstock.sim.workloads.copier import CopierSettings
from penstock.sim.workloads.group_member import MemberSettings
from penstock.sim.workloads.history import COMMITTED, UNCOMMITTED
from penstock.sim.workloads.kinds import WorkloadSettings
from penstock.sim.workloads.membership import GroupSettings
from penstock.sim.workloads.producers import ProducerSettings
from penstock.sim.workloads.producing import LEADER_ALONE
from penstock.sim.workloads.reader import ReaderSettings
from penstock.sim.workloads.transaction import TransactionSettings
from penstock.sim.workloads.transactional_producer import TransactionalSettings

SOURCE, COPIES = "orders", "copies"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicHabits:
    """What all topics of a seed have in common."""

    partitions: int
    replication_factor: int
    node_count: int
    may_lose_disk: bool
    #: What administrators may set the minimum of replicas in sync to.
    minimums: tuple[int, ...]


def draw_workloads(draw: Random, topics: TopicHabits) -> tuple[WorkloadPlan, ...]:
    """A few clients of some kinds; always somebody who writes and somebody who reads."""
    partitions = topics.partitions
    chosen = _draw_writers(draw, partitions)
    is_transactional = any(isinstance(each, TransactionalSettings) for each in chosen.values())
    chosen["reader"] = ReaderSettings(topic=SOURCE, partition_count=partitions, isolation=UNCOMMITTED)
    if is_transactional:
        chosen["committed-reader"] = ReaderSettings(
            topic=SOURCE, partition_count=partitions, isolation=COMMITTED
        )
    if topics.replication_factor > 1 and draw.random() < 0.4:
        isolation = COMMITTED if is_transactional else UNCOMMITTED
        chosen["wandering-reader"] = ReaderSettings(
            topic=SOURCE, partition_count=partitions, isolation=isolation, asks_anybody=True
        )
    if draw.random() < 0.5:
        for number in range(draw.randint(1, 3)):
            chosen[f"member-{number}"] = _member(draw, partitions)
    if draw.random() < 0.5:
        is_modern = draw.random() < 0.5
        for number in range(draw.randint(1, 2)):
            chosen[f"copier-{number}"] = _copier(partitions, number, is_modern=is_modern)
    if draw.random() < 0.4:
        is_copied = any(isinstance(each, CopierSettings) for each in chosen.values())
        chosen["administrator"] = _administrator(draw, topics, (SOURCE, COPIES) if is_copied else (SOURCE,))
    return tuple(WorkloadPlan(name=name, settings=settings) for name, settings in chosen.items())


def _draw_writers(draw: Random, partitions: int) -> dict[str, WorkloadSettings]:
    kinds = draw.sample(("plain", "hasty", "idempotent", "transactional"), draw.randint(1, 3))
    chosen: dict[str, WorkloadSettings] = {}
    if "plain" in kinds:
        chosen["plain"] = _producer(draw, partitions, is_idempotent=False)
    if "hasty" in kinds:
        hasty = _producer(draw, partitions, is_idempotent=False)
        chosen["hasty"] = replace(hasty, acks=LEADER_ALONE)
    if "idempotent" in kinds:
        for number in range(draw.randint(1, 2)):
            chosen[f"idempotent-{number}"] = _producer(draw, partitions, is_idempotent=True)
    if "transactional" in kinds:
        for number in range(draw.randint(1, 2)):
            chosen[f"transactional-{number}"] = _transactional(draw, partitions, number)
    return chosen


def _producer(draw: Random, partitions: int, *, is_idempotent: bool) -> ProducerSettings:
    return ProducerSettings(
        topic=SOURCE,
        partition_count=partitions,
        is_idempotent=is_idempotent,
        pause_seconds=draw.choice((0.15, 0.3, 0.6)),
        records_max=draw.choice((1, 3, 10)),
        in_flight_max=draw.choice((1, 3, 5)),
    )


def _administrator(draw: Random, topics: TopicHabits, names: tuple[str, ...]) -> AdministratorSettings:
    if topics.node_count == 1:
        return AdministratorSettings()
    return AdministratorSettings(
        pause_seconds=draw.choice((0.3, 0.7)),
        replication_factor=draw.choice((1, topics.replication_factor, 3)),
        shared=tuple(
            SharedTopic(
                name=name,
                partition_count=topics.partitions,
                replication_factor=topics.replication_factor,
            )
            for name in names
        ),
        # Who loses a disk loses what stood on it alone: a new topic that others were too busy to take up.
        shared_share=1.0 if topics.may_lose_disk else draw.choice((0.0, 0.4, 0.8)),
        minimums=topics.minimums,
    )


def _transactional(draw: Random, partitions: int, number: int) -> TransactionalSettings:
    return TransactionalSettings(
        topic=SOURCE,
        partition_count=partitions,
        transactions=_transactions(f"writer-{number}", is_modern=draw.random() < 0.5),
        pause_seconds=draw.choice((0.2, 0.5)),
        sends_max=draw.choice((1, 4)),
        abort_share=draw.choice((0.1, 0.5)),
    )


def _member(draw: Random, partitions: int) -> MemberSettings:
    return MemberSettings(
        group=GroupSettings(group="readers", topic=SOURCE, partition_count=partitions),
        pause_seconds=draw.choice((0.2, 0.5)),
        leave_share=draw.choice((0.0, 0.03, 0.1)),
    )


def _copier(partitions: int, number: int, *, is_modern: bool) -> CopierSettings:
    return CopierSettings(
        group=GroupSettings(group="copiers", topic=SOURCE, partition_count=partitions),
        target=COPIES,
        transactions=_transactions(f"copier-{number}", is_modern=is_modern),
    )


def _transactions(transactional_id: str, *, is_modern: bool) -> TransactionSettings:
    return TransactionSettings(transactional_id=transactional_id, timeout_ms=3000, is_modern=is_modern)
