"""Doing what the plan says to nodes and network."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Protocol

from penstock.raft.events import LeaderUnreachable
from penstock.sim.raft.book import Book
from penstock.sim.raft.clients import Clients
from penstock.sim.raft.machine import CrashPoint, Machine
from penstock.sim.raft.network import Network
from penstock.sim.raft.plan import Fault, FaultEvent, RaftPlan

WIPE_VOTERS_MIN = 3
"""A cluster of fewer cannot lose a disk for good and go on."""


class Host(Protocol):
    """What faults happen in."""

    now: int
    is_healed: bool
    plan: RaftPlan
    book: Book
    machines: list[Machine]
    network: Network
    clients: Clients

    def at(self, when: int, action: Callable[[], None]) -> None:
        """Have something done at a time of the world's."""

    def tell(self, line: str) -> None:
        """Note something in the story."""


class Faults:
    """Does one after the other."""

    def __init__(self, host: Host, draw: Random) -> None:
        self._host = host
        self._draw = draw
        #: When broken connections are noticed; drawn apart, so that nothing else depends on it.
        self._notice_draw = Random(f"{host.plan.seed}/broken connections")
        self.count = 0

    def do(self, event: FaultEvent) -> None:
        """Do one, and have it undone when it is over."""
        self.count += 1
        self._host.tell(f"fault: {event.fault} {event.nodes} for {event.duration_ms} ms")
        chosen = self._host.machines[event.nodes[0]]
        leader = self._leader() or chosen
        self._network_fault(event, leader)
        match event.fault:
            case Fault.CRASH:
                self._crash(chosen, event)
            case Fault.CRASH_LEADER:
                self._crash(leader, event)
            case Fault.CRASH_ALL:
                for machine in self._host.machines:
                    self._crash(machine, event)
            case Fault.CRASH_AT_FLUSH:
                chosen.crash_point = self._crash_point()
            case Fault.CRASH_LEADER_AT_FLUSH:
                leader.crash_point = self._crash_point()
            case Fault.CLOCKS_LEAP | Fault.CLOCKS_LEAP_AND_BOUNCE:
                self._leap(event)
            case Fault.PAUSE:
                chosen.paused_until = self._host.now + event.duration_ms
            case Fault.PAUSE_LEADER:
                leader.paused_until = self._host.now + event.duration_ms
            case Fault.SLOW_DISK:
                chosen.slow_until = self._host.now + event.duration_ms
            case _:
                self._change(event, chosen, leader)

    def _change(self, event: FaultEvent, chosen: Machine, leader: Machine) -> None:
        clients = self._host.clients
        match event.fault:
            case Fault.WIPE:
                self._wipe(chosen, event)
            case Fault.TRANSFER:
                clients.transfer()
            case Fault.ADD_VOTER:
                clients.add_voter(chosen)
            case Fault.REMOVE_VOTER:
                clients.remove_voter(chosen.number)
            case Fault.REMOVE_LEADER:
                clients.remove_voter(leader.number)

    def _network_fault(self, event: FaultEvent, leader: Machine) -> None:
        everybody = range(len(self._host.machines))
        others = [number for number in everybody if number != leader.number]
        match event.fault:
            case Fault.PARTITION:
                group = set(event.nodes)
                self._cut(
                    event, [(a, b) for a in everybody for b in everybody if (a in group) != (b in group)]
                )
            case Fault.ONE_WAY_CUT:
                self._cut(event, [(event.nodes[0], number) for number in event.nodes[1:]])
            case Fault.ISOLATE_LEADER:
                ways = [(leader.number, other) for other in others]
                self._cut(event, [*ways, *((b, a) for a, b in ways)])
                self._break_connections(leader)
            case Fault.DEAFEN_LEADER:
                self._cut(event, [(other, leader.number) for other in others])
                self._break_connections(leader)
            case Fault.MUTE_LEADER:
                self._cut(event, [(leader.number, other) for other in others])

    def _cut(self, event: FaultEvent, ways: list[tuple[int, int]]) -> None:
        network = self._host.network
        network.cut(ways)
        self._host.at(self._host.now + event.duration_ms, lambda: network.mend(ways))

    def _crash(self, machine: Machine, event: FaultEvent) -> None:
        machine.crash()
        self._break_connections(machine)
        self._host.at(self._host.now + event.duration_ms, machine.start)

    def _break_connections(self, machine: Machine) -> None:
        """Let some of the others notice that a connection from there has broken; it may be alive, though."""
        draw, timeout_ms = self._notice_draw, self._host.plan.settings.election_timeout_ms
        broken = LeaderUnreachable(leader=machine.key)
        for other in self._host.machines:
            if other is not machine and draw.random() < 0.8:
                delay_ms = int(timeout_ms * draw.choice((0, 0.02, 0.2, 1)))
                self._host.at(self._host.now + delay_ms, partial(other.step, broken))

    def _leap(self, event: FaultEvent) -> None:
        """Let some nodes stand at once, and all others have no leader to defend."""
        timeout_ms = self._host.plan.settings.election_timeout_ms
        for machine in self._host.machines:
            machine.leap(timeout_ms * 2 if machine.number in event.nodes else timeout_ms)
        if event.fault is Fault.CLOCKS_LEAP_AND_BOUNCE:
            leader = self._leader()
            if leader is not None:
                leader.crash()
                leader.start()
            for machine in self._host.machines:
                if machine is leader or machine.number not in event.nodes:
                    machine.crash_point = self._crash_point(CrashPoint.MESSAGES_LEFT)
            self._spread_messages(timeout_ms)

    def _crash_point(self, *liked: CrashPoint) -> CrashPoint:
        points: list[CrashPoint] = [*CrashPoint, *liked, *liked, *liked]
        return self._draw.choice(points)

    def _spread_messages(self, timeout_ms: int) -> None:
        """Let candidates' questions arrive far apart for a while: a voter may be back in between."""
        network, usual = self._host.network, self._host.plan.delay_ms_max
        network.delay_ms_max = max(usual, timeout_ms // 4)

        def end() -> None:
            if not self._host.is_healed:
                network.delay_ms_max = usual

        self._host.at(self._host.now + timeout_ms, end)

    def _wipe(self, machine: Machine, event: FaultEvent) -> None:
        """Only where the promise allows it: one disk lost at a time, and enough others."""
        sets = [each.process.node.voters for each in self._host.machines if each.process is not None]
        is_safe = all(
            len(voters) >= WIPE_VOTERS_MIN and not self._host.book.lost_disks.intersection(voters.keys)
            for voters in sets
        )
        if not is_safe or len(sets) < len(self._host.machines):
            return
        leader = self._leader()
        machine.wipe()
        self._host.at(self._host.now + event.duration_ms, machine.start)
        if leader is not None and self._draw.random() < 0.5:
            isolation = replace(event, fault=Fault.ISOLATE_LEADER, duration_ms=event.duration_ms * 3 + 500)
            self._network_fault(isolation, leader)
        self._replace_voter(machine, event.duration_ms)

    def _replace_voter(self, machine: Machine, wait_ms: int) -> None:
        """An operator has the lost voter removed, and the new one admitted."""
        clients, now = self._host.clients, self._host.now
        for number in range(1, 10):
            self._host.at(now + wait_ms * number, lambda: clients.remove_voter(machine.number))
            self._host.at(now + wait_ms * (number + 3), lambda: clients.add_voter(machine))

    def _leader(self) -> Machine | None:
        leaders = [machine for machine in self._host.machines if machine.is_leader]
        return self._draw.choice(leaders) if leaders else None
