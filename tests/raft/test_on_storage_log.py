"""The machine on real logs: its orders fit what ``penstock.storage`` can do, and so does a restart."""

from collections import deque
from random import Random

import pytest
from tests.raft.node_driver import SETTINGS, key, voters

from penstock.model.ids import Millis, TopicPartition
from penstock.raft.batches import entries_of
from penstock.raft.control_records import ControlBatches
from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.events import Event, MessageReceived, NewBatch, Persisted, Proposed, TimePassed
from penstock.raft.hard_state import NEW_HARD_STATE, HardState
from penstock.raft.log_reader import SnapshotPiece
from penstock.raft.messages import Message
from penstock.raft.node import RaftNode
from penstock.raft.output import Output
from penstock.raft.restored import Restored
from penstock.raft.transition import Role
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord, decode_records
from penstock.sim.raft.frames import through_a_frame
from penstock.storage.log import Log
from penstock.storage.log_config import LogConfig
from penstock.storage.memory_filesystem import MemoryFileSystem

METADATA = TopicPartition("__cluster_metadata", 0)
DIRECTORY = "/data/__cluster_metadata-0"


class StoredNode:
    """A node whose log is a real one, on a disk in memory."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.disk = MemoryFileSystem(Random(number))
        self.disk.make_directory("/data")
        self.hard_state: HardState = NEW_HARD_STATE
        self.log = Log.create(self.disk, DIRECTORY, METADATA, LogConfig())
        self.outbox: deque[Message] = deque()
        self.now = Millis(0)
        self.node = self._start()

    def restart(self) -> None:
        self.log.close()
        self.log = Log.open(self.disk, DIRECTORY, METADATA, LogConfig())
        self.node = self._start()

    def handle(self, event: Event) -> None:
        self._carry_out(self.node.handle(event, self.now))

    def values(self) -> list[bytes | None]:
        """What clients wrote, as the log has it."""
        data = [entry for entry in self.read(0, end_offset=self.log.log_end_offset, bytes_max=10**6)]
        return [
            record.value
            for entry in data
            if not read_header(entry.payload).is_control
            for record in decode_records(entry.payload)
        ]

    def read(self, offset: int, *, end_offset: int, bytes_max: int) -> tuple[Entry, ...]:
        found = self.log.read(offset, max_bytes=bytes_max, end_offset=end_offset)
        return entries_of(found.read_bytes())

    def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        return None

    def _start(self) -> RaftNode:
        entries: tuple[Entry, ...] = ()
        if self.log.log_end_offset:
            entries = self.read(0, end_offset=self.log.log_end_offset, bytes_max=10**6)
        restored = Restored(
            hard_state=self.hard_state,
            voters=voters(1, 2, 3),
            log_end_offset=self.log.log_end_offset,
            term_starts=tuple((start.epoch, start.start_offset) for start in self.log.leader_epochs.starts),
            voter_entries=tuple(entry for entry in entries if entry.voters is not None),
        )
        return RaftNode(
            key=key(self.number),
            settings=SETTINGS,
            rng=Random(self.number),
            restored=restored,
            reader=self,
            control_entries=ControlBatches(),
            now=self.now,
        )

    def _carry_out(self, output: Output) -> None:
        if output.truncate_to is not None:
            self.log.truncate(output.truncate_to)
        for entry in output.append:
            self._append(entry)
        self.outbox.extend(output.send_now)
        if output.number:
            self.hard_state = output.persist or self.hard_state
            self.log.flush()
        self.outbox.extend(output.send_after_persist)
        if output.number:
            self.handle(Persisted(number=output.number))

    def _append(self, entry: Entry) -> None:
        """A batch of our own is stamped by the log; one of a leader's goes in as it is."""
        header = read_header(entry.payload)
        if isinstance(entry.payload, bytearray):
            result = self.log.append(entry.payload, header, leader_epoch=entry.term, now=0, is_client=False)
        else:
            assert isinstance(entry.payload, memoryview)
            result = self.log.append_as_follower(entry.payload, header)
        assert (result.base_offset, result.last_offset + 1) == (entry.offset, entry.end_offset)


def settle(nodes: list[StoredNode], *, cut_off: int = 0) -> None:
    """Deliver everything, in frames, until nobody has anything to say; one node may hear and say nothing."""
    by_key = {node.node.key: node for node in nodes}
    for _ in range(1_000):
        speaking = [node for node in nodes if node.outbox]
        if not speaking:
            return
        message = through_a_frame(speaking[0].outbox.popleft())
        if cut_off not in (message.sender.node_id, message.target.node_id):
            by_key[message.target].handle(MessageReceived(message=message))
    raise AssertionError("they do not come to rest")


def elect(nodes: list[StoredNode], number: int, *, cut_off: int = 0) -> StoredNode:
    candidate = nodes[number - 1]
    for node in nodes:
        node.now = Millis(node.now + 5_000)
    candidate.handle(TimePassed())
    settle(nodes, cut_off=cut_off)
    assert candidate.node.role is Role.LEADER
    return candidate


def propose(node: StoredNode, *values: bytes) -> None:
    batch = build_batch([NewRecord(value=value) for value in values])
    node.handle(Proposed(token=1, batches=(NewBatch(payload=batch, record_count=len(values)),)))


@pytest.fixture
def nodes() -> list[StoredNode]:
    return [StoredNode(number) for number in (1, 2, 3)]


def test_batches_reach_every_log_with_the_leaders_offsets_and_epoch(nodes: list[StoredNode]) -> None:
    leader = elect(nodes, 1)
    propose(leader, b"a", b"b")
    propose(leader, b"c")
    settle(nodes)
    for node in nodes:
        assert node.values() == [b"a", b"b", b"c"]
        assert (node.node.commit_offset, node.log.log_end_offset) == (4, 4)
    raw = [node.log.read(0, max_bytes=10**6, end_offset=4).read_bytes() for node in nodes]
    assert raw[0] == raw[1] == raw[2]


def test_log_that_parted_is_cut_and_mended(nodes: list[StoredNode]) -> None:
    old = elect(nodes, 1)
    propose(old, b"kept")
    settle(nodes)
    propose(old, b"lost")
    settle(nodes, cut_off=1)
    propose(elect(nodes, 2, cut_off=1), b"new")
    settle(nodes, cut_off=1)
    assert old.values() == [b"kept", b"lost"]
    nodes[1].now = Millis(nodes[1].now + 100)
    nodes[1].handle(TimePassed())
    settle(nodes)
    assert [node.values() for node in nodes] == [[b"kept", b"new"]] * 3
    assert [start.epoch for start in old.log.leader_epochs.starts] == [1, 2]


def test_restarted_node_knows_its_log_and_its_vote(nodes: list[StoredNode]) -> None:
    leader = elect(nodes, 1)
    propose(leader, b"a")
    settle(nodes)
    for node in nodes:
        node.restart()
    assert nodes[1].node.hard_state == HardState(term=1, voted_for=key(1))
    assert (nodes[0].node.log.end_offset, nodes[0].node.log.last_term) == (2, 1)
    propose(elect(nodes, 3), b"b")
    settle(nodes)
    assert [node.values() for node in nodes] == [[b"a", b"b"]] * 3
