"""The disk of a node of the quorum: its orders on their way to the log and to the file of its hard state.

Orders are made durable in rounds: all that have gathered share one write of the hard state and one flush of
the log, side by side, since neither needs the other (``raft.output``, rule 4). Entries are in the log's
memory from the moment they are ordered; they are kept here, too, until they are on disk.

A full disk breaks no promise. The log gives up what it could not write, and takes it again, the very same
bytes, once it was rewound; until then the order is not done. The first time that happens the data
directory's reserve is given up, so it is tried again at once; then every second.
"""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from penstock.broker.quorum.news import News
from penstock.broker.quorum.snapshot_store import SnapshotStore
from penstock.broker.quorum.state_file import StateFile
from penstock.broker.quorum.surroundings import QuorumSurroundings
from penstock.model.errors import CorruptLogError, DiskFullError, InvariantError, StorageError
from penstock.model.ids import Offset
from penstock.raft.batches import entries_of, stamp_entry
from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.hard_state import HardState
from penstock.raft.log_reader import SnapshotPiece
from penstock.raft.output import Output
from penstock.records.batch import read_header
from penstock.records.errors import CorruptBatchError
from penstock.storage.log import FlushJob, Log

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
BUSY_SECONDS = 0.002
"""How often to look whether the log's other jobs have ended, before it is cut."""

FAILURES_BORNE = 1
"""Writes in a row that may fail for want of room before those who wait are told."""


class DiskUser(Protocol):
    """Whoever gives the orders."""

    def settled(self, number: int) -> None:
        """Everything ordered up to that number is on disk."""

    def disk_refused(self) -> None:
        """There is no room, and that was not the first try."""


@dataclass(slots=True, kw_only=True)
class _Round:
    """Orders on their way."""

    number: int
    #: Where the log must be flushed to.
    end_offset: int
    is_state_written: bool


class QuorumDisk:
    """The log, the hard state and the snapshots of one node."""

    def __init__(
        self,
        log: Log,
        state_file: StateFile,
        snapshots: SnapshotStore,
        around: QuorumSurroundings,
    ) -> None:
        self.log = log
        self.snapshots = snapshots
        self.user: DiskUser | None = None
        self._around = around
        self._state_file = state_file
        self._issued = 0
        self._settled = 0
        #: The newest state that no round has taken.
        self._state: HardState | None = None
        #: Entries that are not on disk, oldest first.
        self._unflushed: deque[Entry] = deque()
        self._round: _Round | None = None
        self._news = News()
        #: Writes in a row that found no room.
        self._failures = 0
        self._is_rewinding = False
        self._is_stopped = False

    @property
    def is_refusing(self) -> bool:
        """Whether there is no room, as far as anybody knows."""
        return self._failures > FAILURES_BORNE

    # Orders

    def order(self, output: Output) -> None:
        """Take an output's orders, all but the cut: entries are in the log when this returns."""
        self._issued = output.number
        if output.persist is not None:
            self._state = output.persist
        for entry in output.append:
            if isinstance(entry.payload, bytearray):
                stamp_entry(entry)
            self._unflushed.append(entry)
            if self._takes_entries:
                self._append(entry)

    def begin_round(self) -> None:
        """Have everything ordered so far made durable, unless a round is under way."""
        if self._round is not None or self._settled == self._issued or self._is_stopped:
            return
        end_offset = self._unflushed[-1].end_offset if self._unflushed else self.log.flushed_offset
        state, self._state = self._state, None
        self._round = _Round(number=self._issued, end_offset=end_offset, is_state_written=state is None)
        if state is not None:
            self._around.tasks.start(self._write_state(self._round, state), name="write the quorum's state")
        if self._unflushed and self._takes_entries:
            self._around.flusher.mark_dirty(self)
        self._end_round_if_done()

    async def until_settled(self) -> None:
        """Wait until everything ordered so far is on disk."""
        while self._settled < self._issued:
            await self._news.wait()

    def stop(self) -> None:
        """Begin nothing more."""
        self._is_stopped = True

    def _append(self, entry: Entry) -> None:
        """Put a stamped batch into the log, whoever made it."""
        if isinstance(entry.payload, bytes):
            raise InvariantError(f"the batch at offset {entry.offset} is in a buffer that cannot be kept")
        placed = self.log.append_as_follower(entry.payload, read_header(entry.payload))
        if (placed.base_offset, placed.last_offset + 1) != (entry.offset, entry.end_offset):
            raise InvariantError(
                f"the entry at {entry.offset} became {placed.base_offset} to {placed.last_offset}"
            )

    @property
    def _takes_entries(self) -> bool:
        return self.log.refusal is None and not self._is_rewinding

    async def _write_state(self, round_: _Round, state: HardState) -> None:
        while True:
            try:
                await self._around.workers.call(self._state_file.write, state)
                break
            except DiskFullError:
                self._note_failure()
                await asyncio.sleep(RETRY_SECONDS)
            except StorageError as error:
                self._around.fail(error)
                raise
        round_.is_state_written = True
        self._end_round_if_done()

    def _end_round_if_done(self) -> None:
        done = self._round
        if done is None or not done.is_state_written or self.log.flushed_offset < done.end_offset:
            return
        self._round = None
        self._settled = done.number
        self._failures = 0
        self._news.tell()
        if self.user is not None:
            self.user.settled(done.number)
        self.begin_round()

    # The flusher's side

    def flush_finished(self, job: FlushJob) -> None:
        """Some entries are on disk."""
        self._around.directory.record_flushed(self.log, job.size_bytes)
        while self._unflushed and self._unflushed[0].end_offset <= self.log.flushed_offset:
            self._unflushed.popleft()
        self._end_round_if_done()

    def flush_failed(self, error: StorageError) -> None:
        """The log has given up everything that is not flushed; it is kept here."""
        self._note_failure()

    async def write_again(self) -> None:
        """There may be room: let the log take what it had to give up."""
        if self._is_rewinding or not self.log.needs_rewind or self._is_stopped:
            return
        self._is_rewinding = True
        try:
            if self.is_refusing:
                await asyncio.sleep(RETRY_SECONDS)
            while (job := self.log.begin_rewind()) is None:  # noqa: ASYNC110 (nobody reports it)
                await asyncio.sleep(BUSY_SECONDS)
            await self._around.workers.call(job.run)
            self.log.finish_rewind(job)
        finally:
            self._is_rewinding = False
        self._append_again()

    def _append_again(self) -> None:
        for entry in self._unflushed:
            self._append(entry)
        logger.info("metadata log takes entries again", extra={"waiting": len(self._unflushed)})
        if self._unflushed:
            self._around.flusher.mark_dirty(self)

    def _note_failure(self) -> None:
        self._failures += 1
        if self.is_refusing and self.user is not None:
            self.user.disk_refused()

    # Cutting

    async def truncate(self, offset: int) -> None:
        """Cut the log, durably; nothing may be on its way."""
        await self._until_log_is_free()
        lower = self._around.directory.begin_lower(self.log, Offset(offset))
        await self._around.workers.call(lower.run)
        await self._until_log_is_free()
        job = self.log.begin_truncate(offset)
        if job is not None:
            await self._around.workers.call(job.run)
            self.log.finish_truncate(job)
        self._around.directory.finish_lower(lower)

    async def restart(self, offset: int) -> None:
        """Let the log begin anew at the end of a snapshot; nothing may be on its way."""
        await self._until_log_is_free()
        lower = self._around.directory.begin_lower(self.log, Offset(offset))
        await self._around.workers.call(lower.run)
        await self._until_log_is_free()
        job = self.log.begin_restart(offset)
        await self._around.workers.call(job.run)
        self.log.finish_restart(job)
        self._around.directory.finish_lower(lower)

    async def _until_log_is_free(self) -> None:
        """Others check and tidy the log's files, too, for a moment each time."""
        if self._unflushed:
            raise InvariantError(
                f"{self.log} is to be cut while {len(self._unflushed)} entries are on their way"
            )
        while self.log.is_busy:  # noqa: ASYNC110 (nobody reports it)
            await asyncio.sleep(BUSY_SECONDS)

    # What the machine asks

    def read(self, offset: int, *, end_offset: int, bytes_max: int) -> tuple[Entry, ...]:
        """Entries that are on disk."""
        try:
            found = self.log.read(offset, max_bytes=bytes_max, end_offset=end_offset)
            return entries_of(found.read_bytes())
        except (StorageError, CorruptBatchError) as error:
            logger.error("metadata log cannot be read", extra={"offset": offset, "reason": str(error)})
            raise CorruptLogError(
                f"The metadata log cannot be read behind offset {offset} ({error}), and no snapshot has what "
                f"is there. When it starts again, this node looks for what is damaged among the others."
            ) from error

    def read_snapshot(self, snapshot_id: SnapshotId, position: int, bytes_max: int) -> SnapshotPiece | None:
        """A piece of a snapshot; None if it is no longer there."""
        return self.snapshots.read_piece(snapshot_id, position, bytes_max)
