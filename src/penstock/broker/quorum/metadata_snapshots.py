"""Snapshots of the metadata: taking them when the log has grown enough, installing those of a leader.

Files are written and read on worker threads, images are captured and replaced on the loop. After a snapshot
the log is kept from the one before it on: slow followers need no snapshot then, and should the newest turn
out to be unreadable, the older one and the log have it all.
"""

import logging

from penstock.broker.quorum.image_keeper import ImageKeeper
from penstock.broker.quorum.quorum_disk import QuorumDisk
from penstock.broker.quorum.raft_driver import RaftDriver
from penstock.broker.quorum.snapshot_format import SnapshotContent
from penstock.broker.quorum.surroundings import QuorumSurroundings
from penstock.model.errors import CorruptLogError, FlushFailedError, StorageError
from penstock.raft.entry import SnapshotId
from penstock.raft.events import SnapshotInstalled, SnapshotTaken, SnapshotUnreadable
from penstock.raft.output import InstallOrder, SnapshotOrder, WritePiece
from penstock.storage.log import DeletionJob

logger = logging.getLogger(__name__)


class MetadataSnapshots:
    """Takes and installs the snapshots of one node."""

    def __init__(
        self,
        disk: QuorumDisk,
        keeper: ImageKeeper,
        driver: RaftDriver,
        around: QuorumSurroundings,
        *,
        bytes_between: int,
    ) -> None:
        self._disk = disk
        self._keeper = keeper
        self._driver = driver
        self._around = around
        self._bytes_between = bytes_between
        self._is_taking = False
        #: Whether a piece of the snapshot that is arriving could not be written.
        self._lacks_piece = False

    # Taking

    def take_if_due(self) -> None:
        """Take a snapshot if enough was applied since the last one, and all of it is on this disk."""
        keeper, node = self._keeper, self._driver.node
        is_calm = not self._is_taking and not self._driver.is_busy and not keeper.has_backlog
        if not is_calm or keeper.bytes_since_snapshot < self._bytes_between:
            return
        offset = keeper.applied_offset
        term = node.log.terms.before(offset)
        if node.durable_end_offset < offset or offset <= node.log.snapshot_id.end_offset or term is None:
            return
        self._is_taking = True
        keeper.bytes_since_snapshot = 0
        content = SnapshotContent(voters=node.log.voters.at(offset), image=keeper.image)
        self._around.tasks.start(
            self._take(SnapshotId(offset, term), content, keeper.last_timestamp), name="take a snapshot"
        )

    async def _take(self, snapshot_id: SnapshotId, content: SnapshotContent, timestamp: int) -> None:
        call, store = self._around.workers.call, self._disk.snapshots
        try:
            await call(lambda: store.write(snapshot_id, content, timestamp=timestamp))
            await self._enter(snapshot_id)
        except FlushFailedError as error:
            self._around.fail(error)
            raise
        except StorageError as error:
            # The log has it all; the next one is tried when as much has come again.
            logger.error("snapshot cannot be taken", extra={"reason": str(error)})
        finally:
            self._is_taking = False

    async def _enter(self, snapshot_id: SnapshotId) -> None:
        """Let the log begin at the snapshot before this one, once the machine wants no more than that."""
        log = self._driver.node.log
        start_offset = max(log.start_offset, log.snapshot_id.end_offset)
        taken = SnapshotTaken(
            snapshot_id=snapshot_id, log_start_offset=min(start_offset, snapshot_id.end_offset)
        )
        handled = self._around.loop.create_future()
        if not self._driver.post(taken, lambda output: handled.set_result(None)):
            return
        await handled
        if log.snapshot_id == snapshot_id:
            logger.info(
                "snapshot taken", extra={"snapshot": str(snapshot_id), "log_start_offset": start_offset}
            )
            await self._shorten_log(start_offset)

    async def _shorten_log(self, start_offset: int) -> None:
        """Delete segments that lie wholly before the log's new start; that is on disk before they go."""
        log, around = self._disk.log, self._around
        log.advance_log_start(min(start_offset, log.flushed_offset))
        job = log.expire(around.clock.wall_ms(), self._keeper.applied_offset)
        if job is not None:
            await around.checkpoint()
            await around.workers.call(job.run)
            around.loop.call_later(job.delay_ms / 1000, self._remove_segments, job)

    def _remove_segments(self, job: DeletionJob) -> None:
        self._around.tasks.start(
            self._around.workers.call(job.remove), name="remove segments of the metadata log"
        )

    # Installing

    async def carry_out(self, order: SnapshotOrder) -> SnapshotInstalled | SnapshotUnreadable | None:
        """Take a piece, or put a whole snapshot in the place of the log; nothing may be on its way there."""
        if isinstance(order, WritePiece):
            await self._write_piece(order)
            return None
        content = None if self._lacks_piece else await self._complete(order)
        if content is None:
            return SnapshotUnreadable(snapshot_id=order.snapshot_id)
        await self._install(order, content)
        return SnapshotInstalled(snapshot_id=order.snapshot_id)

    async def _write_piece(self, piece: WritePiece) -> None:
        if piece.position == 0:
            self._lacks_piece = False
        if self._lacks_piece:
            return
        store = self._disk.snapshots
        try:
            await self._around.workers.call(store.append, piece.snapshot_id, piece.position, piece.data)
        except FlushFailedError:
            raise
        except StorageError as error:
            self._lacks_piece = True
            logger.error("piece of a snapshot cannot be written", extra={"reason": str(error)})

    async def _complete(self, order: InstallOrder) -> SnapshotContent | None:
        """What arrived, on disk as a snapshot; None, and no trace of it, if it is none."""
        call, store = self._around.workers.call, self._disk.snapshots
        await call(store.complete, order.snapshot_id)
        try:
            content = await call(store.read, order.snapshot_id)
            if content.voters == order.voters:
                return content
            reason = "it names other voters than its leader"
        except CorruptLogError as error:
            reason = str(error)
        logger.error(
            "snapshot that arrived is unreadable",
            extra={"snapshot": str(order.snapshot_id), "reason": reason},
        )
        await call(store.discard, order.snapshot_id)
        return None

    async def _install(self, order: InstallOrder, content: SnapshotContent) -> None:
        end_offset = order.snapshot_id.end_offset
        if order.keeps_log:
            self._disk.log.advance_log_start(end_offset)
        else:
            await self._disk.restart(end_offset)
        self._keeper.installed(content.image, end_offset, keeps_log=order.keeps_log)
        logger.info("snapshot installed", extra={"snapshot": str(order.snapshot_id)})
