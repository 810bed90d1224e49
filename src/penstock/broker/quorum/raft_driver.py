"""Drives a ``RaftNode`` as ``penstock.raft.output`` asks: events in, one at a time; orders carried out.

An event is handled on the spot, unless an earlier one's orders must be carried out first: a cut of the log,
or a snapshot. Those take time on the disk; events queue up meanwhile, and messages beyond a bound are lost,
which Raft bears.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Protocol

from penstock.broker.quorum.election_counts import ElectionCounts
from penstock.broker.quorum.quorum_disk import QuorumDisk
from penstock.broker.quorum.surroundings import QuorumSurroundings
from penstock.model.errors import CorruptLogError, StorageError
from penstock.model.ids import Millis
from penstock.model.limits import RAFT_EVENTS_WAITING_MAX
from penstock.raft.entry import Entry
from penstock.raft.events import (
    Event,
    MessageReceived,
    Persisted,
    SnapshotInstalled,
    SnapshotUnreadable,
    TimePassed,
)
from penstock.raft.messages import Message
from penstock.raft.node import RaftNode
from penstock.raft.output import Answer, Output, SnapshotOrder
from penstock.raft.replica import ReplicaKey
from penstock.raft.transition import Role, Transition

logger = logging.getLogger(__name__)

Handled = Callable[[Output], None]
"""Told what followed from an event, before it is carried out."""


class DriverUser(Protocol):
    """What becomes of a node's outputs beside the disk."""

    def answered(self, answer: Answer) -> None:
        """A request of ours has an answer."""

    def appended(self, entries: tuple[Entry, ...]) -> None:
        """Entries are in the log."""

    def truncated(self, offset: int) -> None:
        """Everything from ``offset`` on is out of the log."""

    def committed(self, offset: int) -> None:
        """Everything below ``offset`` is committed."""

    def send(self, message: Message) -> None:
        """A message may leave."""

    async def carry_out(self, order: SnapshotOrder) -> SnapshotInstalled | SnapshotUnreadable | None:
        """Do something about a snapshot; what to tell the node."""

    def stepped(self) -> None:
        """An event was handled, and all that need not wait was carried out."""

    def disk_refused(self) -> None:
        """The disk has no room for what was ordered."""


class RaftDriver:
    """One node, its disk, its timer."""

    def __init__(
        self,
        node: RaftNode,
        disk: QuorumDisk,
        user: DriverUser,
        around: QuorumSurroundings,
    ) -> None:
        self.node = node
        self.counts = ElectionCounts()
        self._disk = disk
        self._user = user
        self._loop = around.loop
        self._clock = around.clock
        self._tasks = around.tasks
        self._fail = around.fail
        self._queue: deque[tuple[Event, Handled | None]] = deque()
        self._issued = 0
        self._settled = 0
        #: Messages that wait, with the number that must be safe first.
        self._held: deque[tuple[int, tuple[Message, ...]]] = deque()
        #: Whether orders are being carried out that the next event must wait for.
        self.is_busy = False
        self._is_draining = False
        self._is_over = False
        self._timer: asyncio.TimerHandle | None = None
        #: Whom this node followed when its role, term or leader last changed.
        self._leader_before: ReplicaKey | None = None
        disk.user = self

    def start(self) -> None:
        """Let time pass for the node."""
        self._set_timer()

    def stop(self) -> None:
        """Take nothing more in."""
        self._is_over = True
        self._queue.clear()
        if self._timer is not None:
            self._timer.cancel()

    def post(self, event: Event, handled: Handled | None = None) -> bool:
        """Let the node take an event in, now or as soon as it can; False if it is lost."""
        is_message = isinstance(event, MessageReceived)
        if self._is_over or (is_message and len(self._queue) >= RAFT_EVENTS_WAITING_MAX):
            return False
        self._queue.append((event, handled))
        self._drain()
        return True

    # The disk's side

    def settled(self, number: int) -> None:
        """Everything ordered up to that number is on disk."""
        self._settled = number
        self._release()
        self.post(Persisted(number=number))

    def disk_refused(self) -> None:
        """There is no room."""
        self._user.disk_refused()

    # Events

    def _drain(self) -> None:
        if self._is_draining or self.is_busy:
            return
        self._is_draining = True
        try:
            while self._queue and not self.is_busy and not self._is_over:
                self._step(*self._queue.popleft())
        except CorruptLogError as error:  # half of an event, too; the next start knows what to do
            self._give_up(error)
            raise
        except Exception as error:  # half of an event has been taken in: nothing may follow
            self._contradict(error)
            raise
        finally:
            self._is_draining = False
        self._set_timer()

    def _step(self, event: Event, handled: Handled | None) -> None:
        output = self.node.handle(event, self._now())
        if handled is not None:
            handled(output)
        for transition in output.transitions:
            _log_transition(transition, self._leader_before)
            self._leader_before = transition.leader or self._leader_before
            self.counts.note(transition)
        for answer in output.answers:
            self._user.answered(answer)
        if output.truncate_to is None and not output.snapshot_orders:
            self._carry_out(output)
        else:
            self.is_busy = True
            self._tasks.start(self._carry_out_slowly(output), name="cut the metadata log")

    def _carry_out(self, output: Output) -> None:
        if output.number:
            self._issued = output.number
            self._disk.order(output)
            self._user.appended(output.append)
        if output.commit_offset is not None:
            self._user.committed(output.commit_offset)
        for message in output.send_now:
            self._user.send(message)
        if output.send_after_persist:
            self._held.append((self._issued, output.send_after_persist))
        self._disk.begin_round()
        self._release()
        self._user.stepped()

    async def _carry_out_slowly(self, output: Output) -> None:
        """What the next event must wait for: everything before must be on disk first."""
        try:
            await self._disk.until_settled()
            if output.truncate_to is not None:
                await self._disk.truncate(output.truncate_to)
                self._user.truncated(output.truncate_to)
            self._carry_out(output)
            for order in output.snapshot_orders:
                await self._disk.until_settled()
                event = await self._user.carry_out(order)
                if event is not None:
                    self._queue.appendleft((event, None))
        except StorageError as error:
            self._give_up(error)
            raise
        except Exception as error:  # as in ``_drain``
            self._contradict(error)
            raise
        self.is_busy = False
        self._drain()

    def _release(self) -> None:
        while self._held and self._held[0][0] <= self._settled:
            for message in self._held.popleft()[1]:
                self._user.send(message)

    def _give_up(self, error: StorageError) -> None:
        """The disk did not do what it must: this process cannot keep its promises."""
        self.stop()
        self._fail(error)

    def _contradict(self, error: Exception) -> None:
        """Something that must always hold does not: this process must not go on with two truths."""
        self.stop()
        logger.critical("the quorum contradicts itself", extra={"reason": str(error)})
        # Later, so that whoever watches this loop sees the error itself first.
        self._loop.call_soon(self._fail, StorageError(f"The quorum contradicts itself: {error}."))

    # Time

    def _now(self) -> Millis:
        return Millis(int(self._clock.monotonic() * 1000))

    def _set_timer(self) -> None:
        """Have the node called at its deadline; a timer that comes too early asks again."""
        if self._is_over or self.is_busy:
            return
        delay = max(0, self.node.next_deadline() - self._now()) / 1000
        if self._timer is not None:
            if self._timer.when() <= self._loop.time() + delay:
                return
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, self._time_passed)

    def _time_passed(self) -> None:
        self._timer = None
        if self._now() >= self.node.next_deadline():
            self.post(TimePassed())
        self._set_timer()


_EVENTS = {
    Role.OBSERVER: "observes the quorum",
    Role.FOLLOWER: "follows in the quorum",
    Role.PRE_CANDIDATE: "asks whether it would be elected",
    Role.CANDIDATE: "stands for election",
    Role.LEADER: "leads the quorum",
}


def _log_transition(transition: Transition, leader_before: ReplicaKey | None) -> None:
    logger.info(
        _EVENTS[transition.after],
        extra={
            "before": transition.before,
            "after": transition.after,
            "term": transition.term,
            "leader": None if transition.leader is None else transition.leader.node_id,
            "leader_before": None if leader_before is None else leader_before.node_id,
            "cause": transition.cause,
        },
    )
