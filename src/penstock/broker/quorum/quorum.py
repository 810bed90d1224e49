"""The quorum, as the rest of a broker sees it: decisions in, images out.

A change is decided by a machine on the image at hand, proposed to the quorum as one batch of records, and
answered when that batch is committed and in the image. One decision at a time: the next one is made when the
image has everything that is in the log, so that no decision rests on a state that never was.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from random import Random
from typing import TypeVar, cast

from penstock.broker.quorum.addresses import Addresses
from penstock.broker.quorum.correspondence import Correspondence, RequestStruct
from penstock.broker.quorum.election_counts import ElectionCounts
from penstock.broker.quorum.image_keeper import ImageKeeper
from penstock.broker.quorum.metadata_snapshots import MetadataSnapshots
from penstock.broker.quorum.news import News
from penstock.broker.quorum.proposals import Proposal, Proposals, refusal_error
from penstock.broker.quorum.quorum_disk import QuorumDisk
from penstock.broker.quorum.quorum_facts import quorum_facts
from penstock.broker.quorum.raft_driver import Handled, RaftDriver
from penstock.broker.quorum.restoring import RestoredDisk
from penstock.broker.quorum.surroundings import QuorumOptions, QuorumSurroundings
from penstock.metadata.describe_quorum import QuorumFacts
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import MetadataRecord, encode_record
from penstock.metadata.result import Result
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import Millis, NodeId
from penstock.raft.control_records import ControlBatches
from penstock.raft.entry import Entry
from penstock.raft.events import (
    AddVoterRequested,
    Event,
    LeaderUnreachable,
    MessageReceived,
    NewBatch,
    Proposed,
    RemoveVoterRequested,
    SnapshotInstalled,
    SnapshotUnreadable,
    TransferRequested,
)
from penstock.raft.messages import AppendEntries, Message
from penstock.raft.node import RaftNode
from penstock.raft.output import Answer, Refusal, Refused, SnapshotOrder
from penstock.raft.replica import ReplicaKey, Voter
from penstock.raft.voters import VoterSet
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.log import Log
from penstock.wire.schema import Struct

logger = logging.getLogger(__name__)

R = TypeVar("R")

STOP_SECONDS_MAX = 2.0


class Quorum:
    """This node of the quorum, and the image it keeps."""

    def __init__(
        self,
        key: ReplicaKey,
        restored: RestoredDisk,
        options: QuorumOptions,
        around: QuorumSurroundings,
    ) -> None:
        #: Called on the loop, in order, for every step of the image; must not block.
        self.on_change: Callable[[ClusterImage, ClusterImage], None] = lambda before, image: None
        #: Called when this node begins or ceases to lead, or learns of another leader.
        self.on_leadership: Callable[[], None] = lambda: None
        #: Called with a node that did not answer a question of the quorum's.
        self.on_silence: Callable[[NodeId], None] = lambda node_id: None
        self.key = key
        self.log: Log = restored.log
        self.addresses = Addresses(options.bootstrap)
        self._around = around
        self._options = options
        self._news = News()
        self._turn = asyncio.Lock()
        self._proposals = Proposals(around.loop)
        self._leader_commit_offset: int | None = None
        self._leadership: tuple[NodeId | None, bool] = (None, False)
        #: The connection on which the leader spoke last.
        self._leader_line: object = None
        self._is_stopped = False
        self._disk = QuorumDisk(restored.log, restored.state_file, restored.snapshots, around)
        self._keeper = ImageKeeper(
            restored.log,
            image=restored.image,
            applied_offset=restored.restored.snapshot_id.end_offset,
            around=around,
            on_change=self._image_changed,
            on_applied=self._applied,
        )
        self._node = RaftNode(
            key=key,
            settings=options.settings,
            rng=Random(around.entropy.uuid()),
            restored=restored.restored,
            reader=self._disk,
            control_entries=ControlBatches(),
            now=Millis(int(around.clock.monotonic() * 1000)),
        )
        self._driver = RaftDriver(self._node, self._disk, self, around)
        self._snapshots = MetadataSnapshots(
            self._disk, self._keeper, self._driver, around, bytes_between=options.snapshot_bytes
        )
        self._correspondence = Correspondence(
            key,
            around.directory.meta.cluster_id,
            peers=around.peers,
            addresses=self.addresses,
            tasks=around.tasks,
            question_seconds_max=options.settings.election_timeout_ms * 2 / 1000,
            receive=self._receive,
        )
        self._correspondence.on_silence = lambda node_id: self.on_silence(node_id)
        self.addresses.image, self.addresses.voters = restored.image, self._node.voters

    # What there is to see

    @property
    def image(self) -> ClusterImage:
        """The cluster, as far as this node knows it to be decided."""
        return self._keeper.image

    @property
    def applied_offset(self) -> int:
        """The image has everything below."""
        return self._keeper.applied_offset

    @property
    def leader_id(self) -> NodeId | None:
        """Who leads the quorum, as far as this node knows."""
        leader = self._node.leader
        return None if leader is None else leader.node_id

    @property
    def is_leader(self) -> bool:
        """Whether this node leads, and its image has everything that its predecessors committed."""
        leadership = self._node.leadership
        return (
            leadership is not None
            and not self._is_stopped
            and leadership.has_committed_in_its_term
            and self.applied_offset > leadership.term_start_offset
        )

    @property
    def is_caught_up(self) -> bool:
        """Whether the image has everything that was committed when the leader last spoke.

        A new leader does not know how much that is before its own first entry is committed: after an outage
        of all, it begins at zero.
        """
        if self.is_leader:
            return True
        known = self._leader_commit_offset
        if self.leader_id is None or known is None or self.applied_offset < known:
            return False
        return self._node.log.terms.before(self.applied_offset) == self._node.term

    @property
    def voters(self) -> VoterSet:
        """The set in force."""
        return self._node.voters

    @property
    def term(self) -> int:
        """The latest term this node has seen: the epoch of the controller."""
        return self._node.term

    @property
    def counts(self) -> ElectionCounts:
        """How often it was elected, or others were."""
        return self._driver.counts

    def facts(self) -> QuorumFacts:
        """What DescribeQuorum tells; only the leader knows of the others' logs."""
        return quorum_facts(
            self._node,
            wall_ms=self._around.clock.wall_ms(),
            now=int(self._around.clock.monotonic() * 1000),
        )

    # Beginning and end

    async def start(self) -> None:
        """Take part from now on; a sole voter leads within a few flushes."""
        self._driver.start()

    async def stop(self) -> None:
        """Take part no longer; what was ordered is made durable, if the disk can."""
        self._is_stopped = True
        self._driver.stop()
        self._proposals.fail_all(ErrorCode.NOT_CONTROLLER, "This node is stopping.")
        self._news.tell()
        try:
            async with asyncio.timeout(STOP_SECONDS_MAX):
                await self._disk.until_settled()
        except TimeoutError:
            logger.warning("the quorum's last orders are not on disk")
        self._disk.stop()

    async def wait_applied(self, offset: int, *, seconds_max: float) -> bool:
        """Whether the image has everything below ``offset``, within that time."""
        return await self._wait_until(lambda: self.applied_offset >= offset, seconds_max)

    async def wait_caught_up(self, *, seconds_max: float) -> bool:
        """Whether the image is as new as the leader's, within that time."""
        return await self._wait_until(lambda: self.is_caught_up, seconds_max)

    # Changes

    async def submit(self, decide: Callable[[ClusterImage], Result[R]]) -> R:
        """Have a machine decide on the present image; answer once its decision is in force."""
        return await self.submit_at(lambda image, offset: decide(image))

    async def submit_at(self, decide: Callable[[ClusterImage, int], Result[R]]) -> R:
        """The same for a machine that wants to know at which offset its records will begin."""
        async with self._turn:
            await self._until_in_step()
            offset = self._node.log.end_offset
            result = decide(self.image, offset)
            if not result.records:
                return result.response
            batch = self._batch(result.records)
            proposal = self._post(lambda token: Proposed(token=token, batches=(batch,)))
            if proposal.accepted is not None and proposal.accepted.offset != offset:
                raise InvariantError(f"records for {offset} were put at {proposal.accepted.offset}")
            await proposal.turn_over
        _check(await proposal.done)
        return result.response

    async def add_voter(self, voter: Voter) -> None:
        """Give an observer a vote once it has caught up."""
        await self._request(lambda token: AddVoterRequested(token=token, voter=voter))

    async def remove_voter(self, key: ReplicaKey) -> None:
        """Take a vote away."""
        await self._request(lambda token: RemoveVoterRequested(token=token, key=key))

    async def transfer_leadership(self) -> bool:
        """Let another voter lead, if one can; whether this node leads no longer."""
        try:
            await self._request(lambda token: TransferRequested(token=token))
        except ApiError:
            return self._node.leadership is None
        seconds = self._options.settings.election_timeout_ms / 1000
        return await self._wait_until(lambda: self._node.leadership is None, seconds)

    async def answer(self, request: Struct) -> Struct:
        """Answer a peer's request of the quorum."""
        return await self._correspondence.answer(cast(RequestStruct, request))

    def note_connection(self, node_id: NodeId, when_lost: Callable[[Callable[[], None]], None]) -> None:
        """A node spoke on a connection; if it leads, and that breaks, it has perhaps died."""
        leader = self._node.leader
        if leader is not None and leader.node_id == node_id:
            line = self._leader_line = object()
            when_lost(partial(self._leader_line_lost, leader, line))

    def _leader_line_lost(self, leader: ReplicaKey, line: object) -> None:
        if line is self._leader_line:
            self._driver.post(LeaderUnreachable(leader=leader))

    async def write_again(self) -> None:
        """There may be room on the disk again."""
        await self._disk.write_again()

    async def _request(self, make: Callable[[int], Event]) -> None:
        _check(await self._post(make).done)

    def _post(self, make: Callable[[int], Event]) -> Proposal:
        token, proposal = self._proposals.begin()
        if not self._driver.post(make(token)):
            self._proposals.answered(Refused(token=token, reason=Refusal.NOT_LEADER, leader=None))
        return proposal

    async def _until_in_step(self) -> None:
        """Wait until the image has everything that is in the log."""
        while True:
            if not self.is_leader:
                raise ApiError(ErrorCode.NOT_CONTROLLER, "This node does not lead the quorum.")
            if self._disk.is_refusing:
                raise _unwritable()
            if self.applied_offset == self._node.log.end_offset and not self._driver.is_busy:
                return
            await self._news.wait()

    def _batch(self, records: tuple[MetadataRecord, ...]) -> NewBatch:
        now = self._around.clock.wall_ms()
        batch = build_batch([NewRecord(value=encode_record(each), timestamp=now) for each in records])
        return NewBatch(payload=batch, record_count=len(records))

    async def _wait_until(self, condition: Callable[[], bool], seconds_max: float) -> bool:
        try:
            async with asyncio.timeout(seconds_max):
                while not condition() and not self._is_stopped:
                    await self._news.wait()
        except TimeoutError:
            return condition()
        return condition()

    # The driver's side

    def answered(self, answer: Answer) -> None:
        """The machine answers a request of ours."""
        self._proposals.answered(answer)

    def appended(self, entries: tuple[Entry, ...]) -> None:
        """Entries are in the log."""
        self._keeper.appended(entries)

    def truncated(self, offset: int) -> None:
        """Entries are out of the log."""
        self._keeper.truncated(offset)
        self._proposals.truncated(offset)

    def committed(self, offset: int) -> None:
        """Entries may be applied."""
        self.log.update_high_watermark(offset)
        self._keeper.committed(offset)

    def send(self, message: Message) -> None:
        """A message may leave."""
        self._correspondence.send(message)

    async def carry_out(self, order: SnapshotOrder) -> SnapshotInstalled | SnapshotUnreadable | None:
        """Do something about a snapshot."""
        event = await self._snapshots.carry_out(order)
        if isinstance(event, SnapshotInstalled):
            self._proposals.overtaken()
            self._news.tell()
        return event

    def stepped(self) -> None:
        """Something was handled: who leads may have changed."""
        self.addresses.voters = self._node.voters
        now = (self.leader_id, self.is_leader)
        if now == self._leadership:
            return
        before, self._leadership = self._leadership, now
        if before[0] != now[0]:
            self._leader_commit_offset = None
        if before[1] and not now[1]:
            self._proposals.deposed()
        self._news.tell()
        self.on_leadership()

    def disk_refused(self) -> None:
        """There is no room for what was decided; it is written when there is, and may yet come to pass.

        Others may have room: then they decide about what is under way, and one of them had better lead.
        """
        if len(self.voters) == 1:
            self._proposals.fail_all(*_UNWRITABLE)
        elif self._node.leadership is not None:
            self._post(lambda token: TransferRequested(token=token))
        self._news.tell()

    # The keeper's side

    def _image_changed(self, before: ClusterImage, image: ClusterImage) -> None:
        self.addresses.follow(before, image)
        self.on_change(before, image)

    def _applied(self, entries: tuple[Entry, ...]) -> None:
        self._proposals.applied(entries)
        self._news.tell()
        self._snapshots.take_if_due()
        self.stepped()

    def _receive(self, message: Message, handled: Handled | None) -> bool:
        is_taken = self._driver.post(MessageReceived(message=message), handled)
        if isinstance(message, AppendEntries) and message.sender == self._node.leader:
            self._leader_commit_offset = message.commit_offset
            self._news.tell()
        return is_taken


def _check(answer: Answer) -> None:
    if isinstance(answer, Refused):
        raise refusal_error(answer)


_UNWRITABLE = (ErrorCode.KAFKA_STORAGE_ERROR, "The metadata log cannot be written.")


def _unwritable() -> ApiError:
    return ApiError(*_UNWRITABLE)
