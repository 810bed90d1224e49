"""Faults that only clusters know: they strike whoever matters, or change who belongs to it."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import assert_never

from penstock.sim.cluster.fault_ends import FaultEnds
from penstock.sim.cluster.faults import (
    Controller,
    Decommission,
    IsolateSomebody,
    JoinNode,
    KillAll,
    KillSomebody,
    LeaderOf,
    Outage,
    Pairs,
    PauseSomebody,
    RollingRestart,
    Somebody,
    SpoilLog,
    Upheaval,
    Way,
    WipeDisk,
)
from penstock.sim.cluster.node import Node
from penstock.sim.cluster.operator import Operator
from penstock.sim.cluster.rot import spoil_log
from penstock.sim.cluster.sight import Sight
from penstock.sim.network.network import Network

ROLL_LOOK_SECONDS = 0.2
ROLL_SECONDS_MAX = 4.0
"""How long a rolling restart waits for one broker before it goes on to the next."""


class Upheavals:
    """Does to a cluster what the plan says."""

    def __init__(
        self,
        network: Network,
        nodes: Mapping[str, Node],
        sight: Sight,
        operator: Operator,
        clients: Iterable[str],
    ) -> None:
        self._network = network
        self._nodes = nodes
        self._sight = sight
        self._operator = operator
        self._clients = tuple(clients)
        self.ends = FaultEnds(network)

    def inject(self, fault: Upheaval) -> None:
        """Let one fault happen now."""
        match fault:
            case KillSomebody() | PauseSomebody() | IsolateSomebody():
                node = self._find(fault.whom)
                if node is not None:
                    self._strike(node, fault)
            case KillAll():
                for name, seconds in fault.down_seconds:
                    self.ends.take_down(self._nodes[name], fault.outage, seconds)
            case RollingRestart():
                self._roll([self._nodes[name] for name in fault.nodes])
            case JoinNode():
                self._nodes[fault.node].switch_on()
            case Decommission():
                self._operator.retire(self._nodes[fault.node])
            case WipeDisk():
                self._wipe(self._nodes[fault.node], fault.down_seconds)
            case SpoilLog():
                node = self._nodes[fault.node]
                node.before_start = partial(self._spoil, node, fault.topic)
                self.ends.take_down(node, Outage.POWER, fault.down_seconds)
            case _:
                assert_never(fault)

    def _strike(self, node: Node, fault: KillSomebody | PauseSomebody | IsolateSomebody) -> None:
        match fault:
            case KillSomebody():
                self.ends.take_down(node, fault.outage, fault.down_seconds)
            case PauseSomebody():
                node.pause()
                self.ends.later(fault.seconds, node.resume)
            case IsolateSomebody():
                pairs = self._pairs(node, fault)
                node.on_change(f"is isolated ({fault.way})")
                self._network.block(pairs)
                self.ends.later(fault.seconds, lambda: self._network.unblock(pairs))

    def _find(self, whom: Somebody) -> Node | None:
        match whom:
            case Controller():
                return self._sight.controller()
            case LeaderOf():
                return self._sight.leader_of(whom.topic, whom.partition)

    def _pairs(self, node: Node, fault: IsolateSomebody) -> Pairs:
        others = [name for name in self._nodes if name != node.name]
        others += self._clients if fault.with_clients else ()
        away = tuple((node.name, other) for other in others) if fault.way is not Way.DEAF else ()
        towards = tuple((other, node.name) for other in others) if fault.way is not Way.MUTE else ()
        return away + towards

    def _roll(self, nodes: list[Node], waited: float = ROLL_SECONDS_MAX) -> None:
        """Stop the first when whoever was stopped before it is back, or after a while anyway."""
        if not nodes:
            return
        is_quiet = all(node.is_serving for node in self._nodes.values() if node.is_wanted)
        if is_quiet or waited >= ROLL_SECONDS_MAX:
            nodes[0].stop()
            nodes, waited = nodes[1:], 0.0
        self.ends.later(ROLL_LOOK_SECONDS, lambda: self._roll(nodes, waited + ROLL_LOOK_SECONDS))

    def _spoil(self, node: Node, topic: str) -> None:
        where = spoil_log(node.disk, topic, self._network.world.stream(f"{node.name}/rot"))
        node.on_change("has nothing to rot" if where is None else f"has a rotten bit in {where}")

    def _wipe(self, node: Node, down_seconds: float) -> None:
        former = node.node_id
        node.lose_disk()
        self.ends.later(down_seconds, node.boot)
        if former is not None:
            self._operator.forget(former)
