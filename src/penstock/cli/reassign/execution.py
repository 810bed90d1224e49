"""Carrying a plan out: compare it with what is, begin its moves, wait for their end."""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from penstock.cli.durations import format_duration
from penstock.cli.failure import CommandFailed
from penstock.cli.progress import watch
from penstock.cli.reassign.moves import OngoingMove, ongoing_moves
from penstock.cli.reassign.plan import Assignment, Move, Replicas
from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import PASSING, Cluster, attempts
from penstock.wire_client.errors import check
from penstock.wire_client.topics import ABSENT

_LIST_TOPICS = "See what there is with `penstock topic list`."


class MoveState(StrEnum):
    """How far a move is."""

    DONE = "done"
    MOVING = "moving"
    NOT_STARTED = "not started"
    """The partition is elsewhere, and nobody moves it."""


class MoveStatus(NamedTuple):
    """One partition, where it is, and what is being done about it; ``in_sync`` are added and caught up."""

    where: TopicPartition
    state: MoveState
    replicas: Replicas
    adding: Replicas = ()
    removing: Replicas = ()
    in_sync: Replicas = ()

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return {
            "topic": self.where.topic,
            "partition": self.where.partition,
            "state": self.state,
            "replicas": list(self.replicas),
            "adding": list(self.adding),
            "removing": list(self.removing),
            "adding_in_sync": list(self.in_sync),
        }


def moves_of(cluster: Cluster, assignment: Assignment) -> list[Move]:
    """A plan beside what is; one that names what does not exist fails before anything is moved."""
    present = _placed(cluster, {where.topic for where in assignment})
    for where in assignment:
        if where not in present:
            raise CommandFailed(f"There is no partition {where}.", hint=_LIST_TOPICS)
    live = {broker.node_id for broker in cluster.metadata(()).brokers}
    for where, replicas in assignment.items():
        if missing := sorted(set(replicas) - live):
            raise CommandFailed(
                f"Broker {missing[0]}, which {where} is to move to, is not up.",
                hint="See which are with `penstock broker list`.",
            )
    return [Move(where, present[where].replicas, after) for where, after in sorted(assignment.items())]


def wait_moved(cluster: Cluster, moves: Collection[Move], *, seconds_max: float) -> None:
    """Wait until every partition is where it is to be; fails when that takes longer, and gives nothing up."""
    partitions = [move.where for move in moves]
    last = len(partitions)

    def left() -> int | None:
        nonlocal last
        last = len(ongoing_moves(cluster, partitions))
        return last or None

    try:
        unfinished = watch("Moving partitions", left, total=len(partitions), seconds_max=seconds_max)
    except KeyboardInterrupt:
        raise _unfinished(last, "now") from None
    if unfinished is not None:
        raise _unfinished(last, f"after {format_duration(round(seconds_max * 1000))}")
    _check_arrived(cluster, moves)


def ongoing_statuses(cluster: Cluster) -> list[MoveStatus]:
    """Everything that moves."""
    ongoing = ongoing_moves(cluster)
    present = _placed(cluster, {where.topic for where in ongoing})
    return [_moving(where, move, present) for where, move in ongoing.items()]


def plan_statuses(cluster: Cluster, assignment: Assignment) -> list[MoveStatus]:
    """How far a plan is."""
    ongoing = ongoing_moves(cluster, assignment)
    present = _placed(cluster, {where.topic for where in assignment})
    return [
        _moving(where, ongoing[where], present)
        if where in ongoing
        else _resting(where, assignment[where], present)
        for where in sorted(assignment)
    ]


class _Placed(NamedTuple):
    """Where a partition is."""

    replicas: Replicas
    isr: Replicas


def _placed(cluster: Cluster, topics: Iterable[str]) -> dict[TopicPartition, _Placed]:
    """The partitions of some topics, as far as these exist."""
    wanted = sorted(topics)
    if not wanted:
        return {}
    found: dict[TopicPartition, _Placed] = {}
    for topic in cluster.metadata(wanted).topics:
        if topic.error_code in ABSENT:
            continue
        if topic.error_code not in PASSING:
            check(topic.error_code, doing=f"read the metadata of topic {topic.name!r}")
        for partition in topic.partitions:
            where = TopicPartition(topic.name or "", partition.partition_index)
            found[where] = _Placed(partition.replica_nodes, partition.isr_nodes)
    return found


def _moving(where: TopicPartition, move: OngoingMove, present: dict[TopicPartition, _Placed]) -> MoveStatus:
    isr = present[where].isr if where in present else ()
    in_sync = tuple(node_id for node_id in move.adding if node_id in isr)
    return MoveStatus(where, MoveState.MOVING, move.replicas, move.adding, move.removing, in_sync)


def _resting(where: TopicPartition, wanted: Replicas, present: dict[TopicPartition, _Placed]) -> MoveStatus:
    replicas = present[where].replicas if where in present else ()
    return MoveStatus(where, MoveState.DONE if replicas == wanted else MoveState.NOT_STARTED, replicas)


def _check_arrived(cluster: Cluster, moves: Collection[Move]) -> None:
    """Nothing moves any more, which may also mean that somebody called it off; brokers hear of it in turn."""
    lost = [move.where for move in moves]
    wanted = {move.where: move.after for move in moves}
    for _ in attempts():
        present = _placed(cluster, {where.topic for where in lost})
        lost = [where for where in lost if where not in present or present[where].replicas != wanted[where]]
        if not lost:
            return
    raise CommandFailed(
        f"{lost[0]} is not where it was to be{_and_others(lost)}: somebody called the move off, or began "
        "another.",
        hint="Look at it with `penstock topic describe`.",
    )


def _and_others(partitions: Collection[TopicPartition]) -> str:
    return f", nor are {len(partitions) - 1} others" if len(partitions) > 1 else ""


def _unfinished(count: int, when: str) -> CommandFailed:
    moving = "1 partition is" if count == 1 else f"{count} partitions are"
    return CommandFailed(
        f"{moving} still on the move {when}.",
        hint="The cluster goes on by itself; run the same again to wait on and to take a throttle away, look "
        "with `penstock reassign status`, or stop it with `penstock reassign cancel`.",
    )
