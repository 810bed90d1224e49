"""One partition that this broker copies from its leader: does what the follower's machine orders.

A shell lives as long as its machine, one leader epoch. When the machine finds that the leader lacks what was
committed (``InvariantError``), this partition is left alone, loudly; others go on.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from penstock.broker.fetch_sessions import PartitionKey
from penstock.broker.partition import Partition
from penstock.broker.replication.copied_batches import CopiedBatch, copied_batches
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError, PenstockError, StorageError
from penstock.records.batch import CorruptBatchError
from penstock.replication.divergence import EpochEnd
from penstock.replication.follower import PartitionFollower
from penstock.replication.follower_events import (
    AdvanceLogStart,
    AppendRecords,
    AskLeaderOffsets,
    FetchAnswered,
    FetchFailed,
    FetchFrom,
    FetchSent,
    FollowerEffect,
    FollowerEvent,
    LeaderOffsetsReceived,
    LogTruncated,
    RecordsAppended,
    StartAfresh,
    TruncateLog,
)
from penstock.replication.leader_events import LocalLogFlushed, PublishHighWatermark
from penstock.wire.messages.fetch import PartitionData

if TYPE_CHECKING:
    from penstock.broker.replication.replication import Replication

logger = logging.getLogger(__name__)

Change = Callable[[Partition, int], Awaitable[None]]
"""Something that is done to a log, on its disk too."""


class ShellOwner(Protocol):
    """Whoever fetches for many shells at once."""

    def ready(self, shell: "FollowerShell") -> None:
        """It may have something to ask for."""

    def rest(self, shell: "FollowerShell") -> None:
        """It has not, but look again after a while."""

    def ask_offsets(self, shell: "FollowerShell", asked: FetchFrom) -> None:
        """Find out where the leader's log begins and ends."""

    def remove(self, shell: "FollowerShell") -> None:
        """It asks for nothing any more."""


class FollowerShell:
    """The copying of one partition during one leader epoch."""

    def __init__(self, partition: Partition, replication: "Replication", owner: ShellOwner) -> None:
        follower = partition.replica.follower
        if follower is None:
            raise InvariantError(f"{partition} is copied, but does not follow anybody")
        self.partition = partition
        self.key = PartitionKey("", partition.topic_id, partition.index)
        self._follower: PartitionFollower = follower
        self._replication = replication
        self._owner = owner
        self._is_stopped = False
        #: What the leader has been asked for and has not answered.
        self.asked: FetchFrom | None = None
        self._last_asked: FetchFrom | None = None
        #: The number of the request that said so: answers to earlier ones are about something else.
        self.asked_in = 0
        #: Where the log begins for readers, while its first batch begins before that.
        self._begins_inside: int | None = None

    @property
    def is_in_sync(self) -> bool:
        """Whether the metadata log has this replica in the in-sync set."""
        assignment = self.partition.replica.assignment
        return assignment is not None and self.partition.node_id in assignment.isr

    # Asking and being answered.

    def next_position(self) -> FetchFrom | None:
        """What to ask for, which then counts as asked; None while there is something else to do first."""
        if self._is_stopped or self.partition.is_being_cut:
            return None
        log = self.partition.log
        if log.refusal is not None or self._replication.is_disk_low:
            self._owner.rest(self)
            return None
        if self._follower.log_end_offset != log.log_end_offset:
            # A full disk took away what had been appended.
            self.partition.begin_again()
            return None
        now = self._replication.now()
        position = self._follower.fetch_position(now)
        if position is not None:
            self._follower.handle(FetchSent(position=position))
            self.asked = position
        elif self._follower.next_deadline() is not None:
            self._owner.rest(self)
        return position

    def answered(self, data: PartitionData) -> None:
        """The leader has answered what was asked."""
        asked = self._last_asked = self.asked
        self.asked = None
        if self._is_stopped or asked is None:
            return
        try:
            batches = copied_batches(_records(data), asked)
        except CorruptBatchError as error:
            logger.error(
                "leader sent damaged records",
                extra={
                    "partition": str(self.partition),
                    "leader": self._follower.leader,
                    "reason": str(error),
                },
            )
            self._failed(asked)
            return
        if batches and self.partition.log.refusal is not None:
            self._failed(asked)
            return
        diverging = None
        if data.diverging_epoch.end_offset >= 0:
            diverging = EpochEnd(data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
        event = FetchAnswered(
            asked=asked,
            now=self._replication.now(),
            error_code=_known_code(data.error_code),
            high_watermark=data.high_watermark,
            log_start_offset=data.log_start_offset,
            diverging=diverging,
            records_end_offset=batches[-1].header.next_offset if batches else None,
        )
        self._handle(event, batches)
        self._go_on()

    def offsets_received(self, asked: FetchFrom, *, log_start_offset: int, log_end_offset: int) -> None:
        """Where the leader's log begins and ends."""
        if not self._is_stopped:
            self._handle(
                LeaderOffsetsReceived(
                    asked=asked, log_start_offset=log_start_offset, log_end_offset=log_end_offset
                )
            )
            self._go_on()

    def offsets_failed(self, asked: FetchFrom) -> None:
        """The leader did not say where its log begins and ends."""
        if not self._is_stopped:
            self._failed(asked)

    # The partition's side.

    def log_flushed(self) -> None:
        """Everything that was copied may be on disk now."""
        if self._is_stopped:
            return
        log = self.partition.log
        self._handle(LocalLogFlushed(end_offset=log.flushed_offset))
        if self._begins_inside is not None and log.flushed_offset >= self._begins_inside:
            log.advance_log_start(self._begins_inside)
            self._begins_inside = None
        self._go_on()

    def flush_failed(self, error: StorageError) -> None:
        """What was copied since the last flush is gone: begin anew when the log takes appends again."""
        self._owner.rest(self)

    def stop(self) -> None:
        """Copy no more."""
        self._is_stopped = True
        self._owner.remove(self)

    # What the machine orders.

    def _handle(self, event: FollowerEvent, batches: Iterable[CopiedBatch] = ()) -> None:
        try:
            self._carry_out(self._follower.handle(event), batches)
        except PenstockError as error:
            self.partition.fail_replication(str(error))

    def _carry_out(self, effects: Iterable[FollowerEffect], batches: Iterable[CopiedBatch]) -> None:
        for effect in effects:
            match effect:
                case AppendRecords():
                    self._append(list(batches))
                case PublishHighWatermark():
                    self.partition.publish_high_watermark(effect.offset)
                case AdvanceLogStart():
                    self.partition.log.advance_log_start(effect.offset)
                case TruncateLog():
                    self._change(self._replication.log_changes.truncate, effect.offset)
                case StartAfresh():
                    logger.warning(
                        "leader has deleted what would come next: beginning anew",
                        extra={"partition": str(self.partition), "offset": effect.offset},
                    )
                    self._change(self._replication.log_changes.restart, effect.offset)
                case AskLeaderOffsets():
                    assert self._last_asked is not None
                    self._owner.ask_offsets(self, self._last_asked)

    def _append(self, batches: list[CopiedBatch]) -> None:
        log = self.partition.log
        first = batches[0].header.base_offset
        if first < log.log_end_offset and log.log_end_offset == log.log_start_offset:
            # The leader's log begins inside of a batch, and ours is empty: it must begin with that batch.
            self._begins_inside = log.log_start_offset
            self._replication.change_log(self.partition, self._begin_inside(first, batches))
            return
        self._replication.copied_bytes += sum(len(each.batch) for each in batches)
        self.partition.append_copied(batches)
        self._follower.handle(RecordsAppended(end_offset=log.log_end_offset))

    async def _begin_inside(self, first: int, batches: list[CopiedBatch]) -> None:
        await self._replication.log_changes.restart(self.partition, first)
        if not self._is_stopped:
            self._append(batches)

    def _change(self, change: Change, offset: int) -> None:
        self._replication.change_log(self.partition, self._changed(change, offset))

    async def _changed(self, change: Change, offset: int) -> None:
        await change(self.partition, offset)
        log = self.partition.log
        self._follower.handle(
            LogTruncated(log_start_offset=log.log_start_offset, end_offset=log.log_end_offset)
        )
        log.update_high_watermark(self.partition.replica.high_watermark)
        logger.info("log was cut", extra={"partition": str(self.partition), "end": log.log_end_offset})

    def log_changed(self) -> None:
        """A change of the log that was ordered here has ended."""
        self._go_on()

    def _failed(self, asked: FetchFrom) -> None:
        self._follower.handle(FetchFailed(asked=asked, now=self._replication.now()))
        self._owner.rest(self)

    def _go_on(self) -> None:
        """There may be something to ask for, unless records are still to be flushed: then later."""
        log = self.partition.log
        is_flushing = log.flushed_offset < log.log_end_offset and log.refusal is None
        if not self._is_stopped and not self.partition.is_being_cut and not is_flushing:
            self._owner.ready(self)


def _known_code(number: int) -> ErrorCode:
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def _records(data: PartitionData) -> memoryview:
    records = data.records
    if records is None or not isinstance(records, bytes | bytearray | memoryview):
        return memoryview(b"")
    return memoryview(records)
