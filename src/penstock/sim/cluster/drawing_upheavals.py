"""Faults that only clusters know: against whoever matters, again and again; and who belongs to it, once."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from penstock.sim.cluster.faults import (
    Controller,
    Decommission,
    Fault,
    FaultKind,
    IsolateSomebody,
    JoinNode,
    KillAll,
    KillSomebody,
    LeaderOf,
    Outage,
    PauseSomebody,
    RollingRestart,
    Somebody,
    SpoilLog,
    Way,
    WipeDisk,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What such faults have to know."""

    nodes: tuple[str, ...]
    #: Not there at the beginning.
    joiners: tuple[str, ...]
    topics: tuple[tuple[str, int], ...]
    replication_factor: int
    #: Whether the loss of one disk loses nothing that was promised.
    may_lose_disk: bool
    #: Whether nobody may come or go, since one is away already.
    stays_as_it_is: bool
    #: The chance of a power loss, where a process could die as well.
    power: float


_ROTTING = ("orders", "orders", "__consumer_offsets", "__transaction_state", "__cluster_metadata")

Draw = Callable[[Random, ClusterFacts], FaultKind]


def _somebody(draw: Random, facts: ClusterFacts) -> Somebody:
    if draw.random() < 0.4:
        return Controller()
    topic, partitions = draw.choice(facts.topics)
    return LeaderOf(topic=topic, partition=draw.randrange(partitions))


def _outage(draw: Random, facts: ClusterFacts) -> Outage:
    return Outage.POWER if draw.random() < facts.power else Outage.PROCESS


def _kill(draw: Random, facts: ClusterFacts) -> FaultKind:
    return KillSomebody(
        whom=_somebody(draw, facts),
        outage=_outage(draw, facts),
        down_seconds=draw.choice((0.05, 0.3, 1.5, 4.0)),
    )


def _pause(draw: Random, facts: ClusterFacts) -> FaultKind:
    return PauseSomebody(whom=_somebody(draw, facts), seconds=draw.choice((0.3, 1.0, 2.5)))


def _isolate(draw: Random, facts: ClusterFacts) -> FaultKind:
    return IsolateSomebody(
        whom=_somebody(draw, facts),
        way=draw.choice((Way.BOTH, Way.BOTH, Way.DEAF, Way.MUTE)),
        with_clients=draw.random() < 0.4,
        seconds=draw.choice((0.5, 1.5, 3.0)),
    )


def _kill_all(draw: Random, facts: ClusterFacts) -> FaultKind:
    return KillAll(
        outage=_outage(draw, facts),
        down_seconds=tuple((node, draw.choice((0.1, 0.5, 2.0))) for node in facts.nodes),
    )


def _roll(draw: Random, facts: ClusterFacts) -> FaultKind:
    return RollingRestart(nodes=tuple(draw.sample(facts.nodes, len(facts.nodes))))


UPHEAVALS: dict[str, Draw] = {
    "kill-somebody": _kill,
    "pause-somebody": _pause,
    "isolate-somebody": _isolate,
    "kill-all": _kill_all,
    "rolling-restart": _roll,
}


def _loss(draw: Random, facts: ClusterFacts) -> FaultKind:
    """All of a disk, or one bit of it."""
    node, down_seconds = draw.choice(facts.nodes), draw.choice((0.3, 1.5))
    if draw.random() < 0.5:
        return WipeDisk(node=node, down_seconds=down_seconds)
    return SpoilLog(node=node, topic=draw.choice(_ROTTING), down_seconds=down_seconds)


def draw_membership(draw: Random, facts: ClusterFacts, seconds: float) -> list[Fault]:
    """Who comes and who goes: at most one of each, and nobody else while a disk is lost."""
    if facts.stays_as_it_is:
        return []
    if facts.may_lose_disk:
        at = draw.uniform(0.2, 0.6) * seconds
        return [Fault(at=round(at, 4), kind=_loss(draw, facts))]
    faults: list[Fault] = []
    joined_at = draw.uniform(0.1, 0.5) * seconds
    for joiner in facts.joiners:
        faults.append(Fault(at=round(joined_at, 4), kind=JoinNode(node=joiner)))
    is_room = len(facts.nodes) + len(facts.joiners) > max(3, facts.replication_factor)
    if is_room and draw.random() < 0.6:
        at = joined_at + draw.uniform(0.1, 0.3) * seconds
        faults.append(Fault(at=round(at, 4), kind=Decommission(node=draw.choice(facts.nodes))))
    return faults
