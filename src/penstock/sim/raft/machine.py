"""A simulated computer: a disk, a clock that may drift, and at times a process."""

from collections.abc import Callable
from enum import StrEnum
from math import ceil
from random import Random
from typing import Protocol

from penstock.model.ids import Millis, NodeId
from penstock.raft.entry import Entry
from penstock.raft.events import Event, TimePassed
from penstock.raft.messages import Message
from penstock.raft.output import Answer, Output
from penstock.raft.replica import ReplicaKey
from penstock.raft.transition import Role
from penstock.raft.voters import NO_VOTERS
from penstock.sim.raft.disk import NodeDisk
from penstock.sim.raft.plan import RaftPlan
from penstock.sim.raft.process import Process

SLOW_DISK_FACTOR = 8


class CrashPoint(StrEnum):
    """A moment that uniform chance rarely meets."""

    BEFORE_FLUSH = "before the flush"
    BEHIND_FLUSH = "behind the flush"
    MESSAGES_LEFT = "when the messages that waited have left"


class Host(Protocol):
    """What a machine stands in."""

    now: int
    is_healed: bool
    plan: RaftPlan

    def at(self, when: int, action: Callable[[], None]) -> None:
        """Have something done at a time of the world's."""

    def send(self, message: Message) -> None:
        """Give a message to the network."""

    def answered(self, process: Process, answer: Answer) -> None:
        """Tell the clients."""

    def stepped(self, process: Process, event: Event, output: Output) -> None:
        """Check a step."""

    def applied(self, process: Process, entry: Entry) -> None:
        """Check what a state machine was given."""

    def state_loaded(self, process: Process) -> None:
        """Check what a state machine was loaded with."""

    def disk_replaced(self, machine: "Machine", lost: ReplicaKey) -> None:
        """A disk is gone for ever, and another in its place."""

    def tell(self, line: str) -> None:
        """Note something in the story."""


def replica_key(number: int, wipes: int) -> ReplicaKey:
    """The identity of a machine with its n-th disk."""
    return ReplicaKey(NodeId(number), bytes([wipes + 1]) + bytes(14) + bytes([number]))


class Machine:
    """One of the cluster's computers."""

    def __init__(self, number: int, disk: NodeDisk, host: Host, *, drift: float) -> None:
        self.number = number
        self.key = replica_key(number, 0)
        self.disk = disk
        self.process: Process | None = None
        #: Until when it does nothing; what is due meanwhile waits.
        self.paused_until = 0
        #: Until when its disk is slow.
        self.slow_until = 0
        #: Where it crashes at the next flush, if it does.
        self.crash_point: CrashPoint | None = None
        #: Whether it never starts again.
        self.is_broken = False
        self._host = host
        self._drift = drift
        self._ahead_ms = number * 1_000
        self._lives = 0
        self._wipes = 0
        self._timer_at: int | None = None
        self._disk_draw = Random(f"{host.plan.seed}/disk {number}")

    @property
    def is_leader(self) -> bool:
        """Whether its node takes itself for the leader."""
        return self.process is not None and self.process.node.role is Role.LEADER

    def local_time(self) -> Millis:
        """What its clock shows."""
        return Millis(int(self._host.now * self._drift) + self._ahead_ms)

    def leap(self, ahead_ms: int) -> None:
        """Let its clock jump forward."""
        self._ahead_ms += ahead_ms
        self._timer_at = None
        self._set_timer()

    def start(self) -> None:
        """Let a process run, unless one does."""
        if self.process is not None or self.is_broken:
            return
        self._lives += 1
        self._timer_at = None
        plan = self._host.plan
        self._host.tell(f"node {self.number} starts")
        process = Process(
            key=self.key,
            settings=plan.settings,
            disk=self.disk,
            surroundings=self,
            rng=Random(f"{plan.seed}/node {self.number} life {self._lives}"),
            flush_draw=self._disk_draw,
            clock=self.local_time,
            uses_batches=plan.uses_wire,
        )
        process.snapshot_every, process.snapshot_keeps = plan.snapshot_every, plan.snapshot_keeps
        self.process = process
        self._host.state_loaded(process)
        self._set_timer()

    def crash(self) -> None:
        """End the process, and lose what was not flushed."""
        process, self.process = self.process, None
        if process is not None:
            self._host.tell(f"node {self.number} crashes")
            process.end(self._disk_draw)
        self.crash_point = None

    def wipe(self) -> None:
        """Crash, and lose the disk."""
        self.crash()
        self._wipes += 1
        lost, self.key = self.key, replica_key(self.number, self._wipes)
        self.disk = NodeDisk(NO_VOTERS)
        self._host.disk_replaced(self, lost)

    def step(self, event: Event) -> None:
        """Give the node an event, if it runs and is not paused."""
        process = self.process
        if process is None:
            return
        if self._host.now < self.paused_until:
            self._host.at(self.paused_until, lambda: self._step_same(process, event))
            return
        self._refresh_speed(process)
        process.step(event)
        self._set_timer()

    # What its process can do (Surroundings)

    def later(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Have something done, if the process still runs then."""
        process = self.process
        self._host.at(self._host.now + delay_ms, lambda: self._do_same(process, action))

    def send(self, message: Message) -> None:
        """Give a message to the network."""
        self._host.send(message)

    def answered(self, process: Process, answer: Answer) -> None:
        """Tell the clients."""
        self._host.answered(process, answer)

    def stepped(self, process: Process, event: Event, output: Output) -> None:
        """Have the step checked."""
        self._host.stepped(process, event, output)

    def applied(self, process: Process, entry: Entry) -> None:
        """Have the entry checked."""
        self._host.applied(process, entry)

    def state_loaded(self, process: Process) -> None:
        """Have the state checked."""
        self._host.state_loaded(process)

    def flush_begins(self, process: Process) -> bool:
        """Crash now if that is planned."""
        return not self._crashes_at(CrashPoint.BEFORE_FLUSH)

    def flush_ends(self, process: Process) -> bool:
        """Crash now if that is planned."""
        return not self._crashes_at(CrashPoint.BEHIND_FLUSH)

    def messages_left(self, process: Process) -> bool:
        """Crash now if that is planned."""
        return not self._crashes_at(CrashPoint.MESSAGES_LEFT)

    def _crashes_at(self, point: CrashPoint) -> bool:
        if self.crash_point is not point:
            return False
        self.crash()
        down_ms = self._disk_draw.choice((0, 1, 5, self._host.plan.settings.election_timeout_ms))
        self._host.at(self._host.now + down_ms, self.start)
        return True

    def _refresh_speed(self, process: Process) -> None:
        flush_ms_max = 1 if self._host.is_healed else self._host.plan.flush_ms_max
        is_slow = self._host.now < self.slow_until
        process.flush_ms_max = flush_ms_max * SLOW_DISK_FACTOR if is_slow else flush_ms_max

    def _step_same(self, process: Process, event: Event) -> None:
        if self.process is process:
            self.step(event)

    def _do_same(self, process: Process | None, action: Callable[[], None]) -> None:
        if self.process is not process or process is None:
            return
        if self._host.now < self.paused_until:
            self._host.at(self.paused_until, lambda: self._do_same(process, action))
            return
        action()
        self._set_timer()

    def _set_timer(self) -> None:
        process = self.process
        if process is None:
            return
        deadline = process.node.next_deadline() - self._ahead_ms
        when = max(self._host.now, ceil(deadline / self._drift))
        if self._timer_at is None or when < self._timer_at or self._timer_at <= self._host.now:
            self._timer_at = when
            self._host.at(when, lambda: self._ring(process, when))

    def _ring(self, process: Process, when: int) -> None:
        if self.process is not process or self._timer_at != when:
            return
        if self._host.now < self.paused_until:
            self._timer_at = self.paused_until
            self._host.at(self.paused_until, lambda: self._ring(process, self.paused_until))
            return
        self._timer_at = None
        if self.local_time() >= process.node.next_deadline():
            self.step(TimePassed())
        else:
            self._set_timer()
