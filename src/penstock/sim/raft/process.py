"""One run of one node's process: the shell that drives a ``RaftNode`` as ``penstock.raft.output`` asks.

It is what a broker's shell must be, without sockets and files: orders go to the disk in rounds, as many as
are waiting share a flush, messages that must wait for it wait, committed entries are applied in order.
"""

import zlib
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Protocol

from penstock.model.ids import Millis
from penstock.raft.batches import stamp_entry
from penstock.raft.control_records import ControlBatches
from penstock.raft.entry import Entry, Payload, SnapshotId
from penstock.raft.events import Event, Persisted, SnapshotInstalled, SnapshotTaken
from penstock.raft.messages import Message
from penstock.raft.node import RaftNode
from penstock.raft.output import Answer, InstallOrder, Output, WritePiece
from penstock.raft.replica import ReplicaKey
from penstock.raft.settings import RaftSettings
from penstock.raft.voters import VoterSet
from penstock.sim.raft.disk import NodeDisk, Snapshot

SNAPSHOT_PADDING_BYTES = 40
BROKEN_STATE = -1
"""Of a state machine that was loaded from something that is no snapshot; no digest is negative."""


class Surroundings(Protocol):
    """What a process can do to the world, and the world wants to know of it."""

    def later(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Have something done after a while of the world's time."""

    def send(self, message: Message) -> None:
        """Give a message to the network."""

    def answered(self, process: "Process", answer: Answer) -> None:
        """A client's request has an answer."""

    def stepped(self, process: "Process", event: Event, output: Output) -> None:
        """The node has taken an event in; to be checked before anything follows from it."""

    def applied(self, process: "Process", entry: Entry) -> None:
        """A committed entry has reached the state machine."""

    def state_loaded(self, process: "Process") -> None:
        """The state machine has been loaded from a snapshot."""

    def flush_begins(self, process: "Process") -> bool:
        """Whether the process lives on; a crash may be planned for this moment."""

    def flush_ends(self, process: "Process") -> bool:
        """Whether the process lives on; a crash may be planned for this moment."""

    def messages_left(self, process: "Process") -> bool:
        """Whether the process lives on, now that what waited for a flush is on its way."""


class WrittenOut:
    """Control entries as readable bytes."""

    def leader_change(self, leader: ReplicaKey, voters: VoterSet) -> Payload:
        """Who leads."""
        return f"leader {leader.node_id}".encode()

    def voters(self, voters: VoterSet) -> Payload:
        """Who votes."""
        return f"voters {voters}".encode()


class Process:
    """A node from its start to its end."""

    def __init__(
        self,
        *,
        key: ReplicaKey,
        settings: RaftSettings,
        disk: NodeDisk,
        surroundings: Surroundings,
        rng: Random,
        flush_draw: Random,
        clock: Callable[[], Millis],
        uses_batches: bool,
    ) -> None:
        self.key = key
        self.disk = disk
        self.is_alive = True
        self.flush_ms_max = 1
        self.snapshot_every = 1_000_000
        self.snapshot_keeps = 0
        #: How far the state machine is, and what it has become.
        self.applied_offset = 0
        self.state_digest = 0
        self._uses_batches = uses_batches
        self._surroundings = surroundings
        self._clock = clock
        self._flush_draw = flush_draw
        self._issued = 0
        self._settled = 0
        #: Messages that wait, with the number that must be safe first.
        self._held: deque[tuple[int, tuple[Message, ...]]] = deque()
        self._is_flushing = False
        self._is_snapshotting = False
        self._incoming = bytearray()
        self._install: InstallOrder | None = None
        restored = disk.restore()
        self._load(disk.files.snapshot)
        self.node = RaftNode(
            key=key,
            settings=settings,
            rng=rng,
            restored=restored,
            reader=disk,
            control_entries=ControlBatches() if uses_batches else WrittenOut(),
            now=clock(),
        )

    def step(self, event: Event) -> None:
        """Let the node take an event in, and do what it says."""
        output = self.node.handle(event, self._clock())
        self._surroundings.stepped(self, event, output)
        self._carry_out(output)

    def end(self, draw: Random) -> None:
        """Crash."""
        self.is_alive = False
        if self._install is not None and draw.random() < 0.5:
            self.disk.replace_snapshot(self._snapshot_of(self._install))
        self.disk.crash(draw)

    def _carry_out(self, output: Output) -> None:
        if output.number:
            self._issued = output.number
            self._stamp(output.append)
            self.disk.order(output)
        if output.commit_offset is not None:
            self._apply(output.commit_offset)
        for message in output.send_now:
            self._surroundings.send(message)
        if output.send_after_persist:
            self._held.append((self._issued, output.send_after_persist))
        for order in output.snapshot_orders:
            self._take_snapshot_order(order)
        for answer in output.answers:
            self._surroundings.answered(self, answer)
        self._release()
        self._flush_if_needed()

    def _stamp(self, entries: tuple[Entry, ...]) -> None:
        """Batches that were made here get their place; those that a leader sent have it."""
        for entry in entries:
            if self._uses_batches and isinstance(entry.payload, bytearray):
                stamp_entry(entry)

    # The disk

    def _flush_if_needed(self) -> None:
        if self._is_flushing or not self.disk.pending or not self.is_alive:
            return
        if not self._surroundings.flush_begins(self):
            return
        self._is_flushing = True
        count, number = len(self.disk.pending), self._issued
        delay = self._flush_draw.randrange(self.flush_ms_max + 1)
        self._surroundings.later(delay, lambda: self._flushed(count, number))

    def _flushed(self, count: int, number: int) -> None:
        if not self.is_alive:
            return
        self._is_flushing = False
        self.disk.flushed(count)
        if not self._surroundings.flush_ends(self):
            return
        self._settled = number
        self.step(Persisted(number=number))
        if not self._surroundings.messages_left(self):
            return
        self._install_if_ready()
        self._snapshot_if_due()

    def _release(self) -> None:
        while self._held and self._held[0][0] <= self._settled:
            for message in self._held.popleft()[1]:
                self._surroundings.send(message)

    # The state machine

    def _apply(self, commit_offset: int) -> None:
        entries = self.disk.files.entries
        number = len(entries)
        while number and entries[number - 1].end_offset > self.applied_offset:
            number -= 1
        for entry in entries[number:]:
            if entry.end_offset > commit_offset:
                break
            self.applied_offset = entry.end_offset
            self.state_digest = zlib.crc32(bytes(entry.payload), self.state_digest)
            self._surroundings.applied(self, entry)

    def _load(self, snapshot: Snapshot) -> None:
        self.applied_offset = snapshot.snapshot_id.end_offset
        if snapshot.content:
            self.state_digest = int(snapshot.content.split(b":")[1])
            if snapshot.content != self._content():
                self.state_digest = BROKEN_STATE

    # Snapshots

    def _snapshot_if_due(self) -> None:
        files, node = self.disk.files, self.node
        is_calm = not self._is_snapshotting and self._install is None
        has_all = node.durable_end_offset >= self.applied_offset
        if not is_calm or not has_all or self.applied_offset - files.log_start_offset < self.snapshot_every:
            return
        offset = self.applied_offset
        term = files.term_before(offset)
        if term is None:
            return
        self._is_snapshotting = True
        snapshot = Snapshot(
            snapshot_id=SnapshotId(offset, term), voters=node.log.voters.at(offset), content=self._content()
        )
        self._surroundings.later(
            self._flush_draw.randrange(self.flush_ms_max + 1), lambda: self._snapshot_written(snapshot)
        )

    def _content(self) -> bytes:
        return f"{self.applied_offset}:{self.state_digest}:".encode().ljust(SNAPSHOT_PADDING_BYTES, b".")

    def _snapshot_written(self, snapshot: Snapshot) -> None:
        self._is_snapshotting = False
        older = self.disk.files.snapshot.snapshot_id.end_offset < snapshot.snapshot_id.end_offset
        if not self.is_alive or self._install is not None or not older:
            return
        self.disk.replace_snapshot(snapshot)
        self.disk.drop_log_before(snapshot.snapshot_id.end_offset - self.snapshot_keeps)
        start = self.disk.files.log_start_offset
        self.step(SnapshotTaken(snapshot_id=snapshot.snapshot_id, log_start_offset=start))

    def _take_snapshot_order(self, order: WritePiece | InstallOrder) -> None:
        if isinstance(order, WritePiece):
            if order.position == 0:
                self._incoming.clear()
            self._incoming += order.data
            return
        self._install = order
        if not self.disk.pending and not self._is_flushing:
            delay = self._flush_draw.randrange(self.flush_ms_max + 1)
            self._surroundings.later(delay, self._install_if_ready)

    def _install_if_ready(self) -> None:
        """Put the snapshot in place once everything ordered before is safe."""
        order = self._install
        if order is None or not self.is_alive or self.disk.pending:
            return
        self._install = None
        self.disk.replace_snapshot(self._snapshot_of(order))
        if order.keeps_log:
            self.disk.drop_log_before(order.snapshot_id.end_offset)
        else:
            self.disk.empty_log()
        self._load(self.disk.files.snapshot)
        self._surroundings.state_loaded(self)
        self.step(SnapshotInstalled(snapshot_id=order.snapshot_id))

    def _snapshot_of(self, order: InstallOrder) -> Snapshot:
        return Snapshot(snapshot_id=order.snapshot_id, voters=order.voters, content=bytes(self._incoming))
