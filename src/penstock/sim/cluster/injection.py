"""Letting faults happen, and ending each of them in its time."""

from collections.abc import Mapping
from typing import assert_never

from penstock.sim.cluster.client_process import ClientProcess
from penstock.sim.cluster.faults import (
    Cut,
    Decommission,
    FailFlush,
    FaultKind,
    FillDisk,
    ForgetConnections,
    HoldConnections,
    IsolateSomebody,
    JoinNode,
    Kill,
    KillAll,
    KillAtOperation,
    KillClient,
    KillSomebody,
    MoveWall,
    Outage,
    Pause,
    PauseSomebody,
    ResetConnections,
    Restart,
    RollingRestart,
    SlowDisk,
    SlowLink,
    SpoilLog,
    StallDisk,
    WipeDisk,
)
from penstock.sim.cluster.node import Node
from penstock.sim.cluster.upheavals import Upheavals
from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.runtime.disk import Appointment
from penstock.storage.memory_filesystem import CAPACITY_BYTES_DEFAULT

HEALTHY_SECONDS_MAX = 0.001


class Injection:
    """Does to machines and links what the plan says."""

    def __init__(
        self,
        network: Network,
        nodes: Mapping[str, Node],
        clients: Mapping[str, ClientProcess],
        upheavals: Upheavals,
    ) -> None:
        self._network = network
        self._nodes = nodes
        self._clients = clients
        self._upheavals = upheavals
        self._ends = upheavals.ends

    def inject(self, fault: FaultKind) -> None:
        """Let one fault happen now."""
        match fault:
            case Kill() | KillAtOperation() | Restart() | Pause() | KillClient():
                self._strike(fault)
            case Cut() | SlowLink() | ResetConnections() | ForgetConnections() | HoldConnections():
                self._disturb(fault)
            case SlowDisk() | StallDisk() | FailFlush() | FillDisk() | MoveWall():
                self._hamper(fault)
            case (
                KillSomebody()
                | PauseSomebody()
                | IsolateSomebody()
                | KillAll()
                | RollingRestart()
                | JoinNode()
                | Decommission()
                | WipeDisk()
                | SpoilLog()
            ):
                self._upheavals.inject(fault)
            case _:
                assert_never(fault)

    def heal(self) -> None:
        """End every fault, and let everything be as good as it gets."""
        self._ends.cancel_all()
        self._network.habits = NetworkHabits()
        self._network.heal()
        for node in self._nodes.values():
            node.speed.seconds_max = HEALTHY_SECONDS_MAX
            node.speed.stalled_until = 0.0
            node.disk.capacity_bytes = CAPACITY_BYTES_DEFAULT
            node.disk.appointed.arrange(None)
            node.disk.appointed.forget_faults()
            node.set_wall_right()
            node.resume()
            node.boot()
        for client in self._clients.values():
            client.resume()
            client.boot()

    def _strike(self, fault: Kill | KillAtOperation | Restart | Pause | KillClient) -> None:
        """What happens to processes."""
        match fault:
            case Kill():
                self._ends.take_down(self._nodes[fault.node], fault.outage, fault.down_seconds)
            case KillAtOperation():
                self._arrange(fault)
            case Restart():
                self._nodes[fault.node].stop()
            case Pause():
                process = self._nodes.get(fault.host) or self._clients.get(fault.host)
                if process is not None:
                    process.pause()
                    self._ends.later(fault.seconds, process.resume)
            case KillClient():
                client = self._clients.get(fault.host)
                if client is not None and fault.down_seconds is None:
                    client.dismiss()
                elif client is not None and fault.down_seconds is not None:
                    client.kill()
                    self._ends.later(fault.down_seconds, client.boot)

    def _disturb(
        self, fault: Cut | SlowLink | ResetConnections | ForgetConnections | HoldConnections
    ) -> None:
        """What happens to links."""
        network = self._network
        match fault:
            case Cut():
                network.block(fault.pairs)
                self._ends.later(fault.seconds, lambda: network.unblock(fault.pairs))
            case SlowLink():
                network.slow_down(fault.pairs, fault.extra_seconds)
                self._ends.later(fault.seconds, lambda: network.slow_down(fault.pairs, 0.0))
            case ResetConnections():
                network.reset_connections(fault.one, fault.other)
            case ForgetConnections():
                network.forget_connections(fault.one, fault.other)
            case HoldConnections():
                network.hold_connections(fault.one, fault.other, fault.seconds)

    def _hamper(self, fault: SlowDisk | StallDisk | FailFlush | FillDisk | MoveWall) -> None:
        """What happens to the parts of a machine."""
        node = self._nodes[fault.node]
        match fault:
            case SlowDisk():
                usual, node.speed.seconds_max = node.speed.seconds_max, fault.job_seconds_max
                self._ends.later(fault.seconds, lambda: setattr(node.speed, "seconds_max", usual))
            case StallDisk():
                node.speed.stalled_until = self._network.world.now + fault.seconds
            case FailFlush():
                node.disk.fail_flush(fault.path_part, after=fault.after)
            case FillDisk():
                node.disk.capacity_bytes = node.disk.used_bytes + fault.room_bytes
                self._ends.later(
                    fault.seconds, lambda: setattr(node.disk, "capacity_bytes", CAPACITY_BYTES_DEFAULT)
                )
            case MoveWall():
                node.move_wall(fault.milliseconds)

    def _arrange(self, fault: KillAtOperation) -> None:
        node = self._nodes[fault.node]

        def stop() -> None:
            self._ends.take_down(node, fault.outage, fault.down_seconds)
            if fault.aftershock_seconds is not None:
                self._ends.later(
                    fault.down_seconds + fault.aftershock_seconds,
                    lambda: self._ends.take_down(node, Outage.POWER, fault.down_seconds),
                )

        node.disk.appointed.arrange(
            Appointment(
                operation=fault.operation,
                path_part=fault.path_part,
                ordinal=fault.ordinal,
                on_stop=stop,
            )
        )
