"""A follower of one partition during one leader epoch: copies the leader, and cuts off what it never had.

Its fetch offset is its word that everything before is on its disk, so it asks for more only when all it got
is flushed. What the leader finds to be of another log (``divergence``) is cut off before all else.

It never cuts below its own high watermark: that was committed, and a leader without it lost an acknowledged
record. Only where the topic has said that it can live with that (unclean elections, or flushes that do not
cover every batch) is it done.

Only the answer to its last fetch counts, told by offset and epochs: what a leader once found to be of another
log may be the leader's own by now.
"""

from enum import StrEnum
from typing import assert_never

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import NO_EPOCH, LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.divergence import EpochEnd, EpochHistory, truncation_offset
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
from penstock.replication.follower_start import FollowerStart
from penstock.replication.leader_events import LocalLogFlushed, PublishHighWatermark

_NOTHING: tuple[FollowerEffect, ...] = ()


class _Doing(StrEnum):
    """What a follower waits for."""

    READY = "ready"
    FETCHING = "fetching"
    APPENDING = "appending"
    TRUNCATING = "truncating"
    ASKING_OFFSETS = "asking offsets"


class PartitionFollower:
    """One partition, as one of its followers sees it."""

    __slots__ = (
        "_asked",
        "_doing",
        "_end",
        "_flushed",
        "_high_watermark",
        "_history",
        "_leader",
        "_leader_epoch",
        "_leaders_high_watermark",
        "_log_start",
        "_may_lose_committed",
        "_retry_at",
        "_retry_ms",
    )

    def __init__(
        self, *, leader: NodeId, leader_epoch: LeaderEpoch, history: EpochHistory, start: FollowerStart
    ) -> None:
        self._leader = leader
        self._leader_epoch = leader_epoch
        #: The epochs of our own log; it moves with the log.
        self._history = history
        self._log_start = start.log_start_offset
        self._end = start.log_end_offset
        #: ≤ the end; what we tell the leader.
        self._flushed = start.flushed_offset
        #: ≤ flushed; moves only forward.
        self._high_watermark = start.high_watermark
        #: The leader's, which may be ahead of our log.
        self._leaders_high_watermark: int = start.high_watermark
        self._may_lose_committed = start.may_lose_committed
        self._retry_ms = start.retry_ms
        self._retry_at: Millis | None = None
        self._doing = _Doing.READY
        #: The fetch that waits for its answer.
        self._asked: FetchFrom | None = None
        self.validate()

    @property
    def leader(self) -> NodeId:
        """Whom it follows."""
        return self._leader

    @property
    def leader_epoch(self) -> LeaderEpoch:
        """During which epoch."""
        return self._leader_epoch

    @property
    def high_watermark(self) -> Offset:
        """Everything below it is committed, and on our disk."""
        return self._high_watermark

    @property
    def log_end_offset(self) -> int:
        """Where our log ends, flushed or not."""
        return self._end

    def fetch_position(self, now: Millis) -> FetchFrom | None:
        """What to ask the leader for next; None while there is something else to do first."""
        is_early = self._retry_at is not None and now < self._retry_at
        if self._doing is not _Doing.READY or is_early or self._flushed < self._end:
            return None
        is_empty = self._end <= self._log_start
        return FetchFrom(
            offset=self._end,
            last_fetched_epoch=NO_EPOCH if is_empty else self._history.epoch_at(self._end - 1),
            current_leader_epoch=self._leader_epoch,
            log_start_offset=self._log_start,
        )

    def next_deadline(self) -> Millis | None:
        """When to try again after a failure; None if nothing has failed."""
        return self._retry_at

    def handle(self, event: FollowerEvent) -> tuple[FollowerEffect, ...]:
        """Take in a fact; the only way this machine changes."""
        match event:
            case FetchSent():
                return self._fetch_sent(event.position)
            case FetchAnswered():
                return self._fetch_answered(event)
            case FetchFailed():
                return self._failed(event.asked, event.now)
            case RecordsAppended():
                return self._records_appended(event.end_offset)
            case LocalLogFlushed():
                return self._local_log_flushed(event.end_offset)
            case LogTruncated():
                return self._log_truncated(event)
            case LeaderOffsetsReceived():
                return self._leader_offsets_received(event)
            case _:
                assert_never(event)

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        if not self._high_watermark <= self._flushed <= self._end:
            raise InvariantError(
                f"high watermark {self._high_watermark}, flushed {self._flushed} and end {self._end} of a "
                "follower are out of order"
            )

    def _fetch_sent(self, position: FetchFrom) -> tuple[FollowerEffect, ...]:
        if self._doing is not _Doing.READY:
            raise InvariantError(f"a follower that is {self._doing} has sent a fetch")
        self._doing = _Doing.FETCHING
        self._asked = position
        self._retry_at = None
        return _NOTHING

    def _fetch_answered(self, event: FetchAnswered) -> tuple[FollowerEffect, ...]:
        if event.asked != self._asked or self._doing is not _Doing.FETCHING:
            return _NOTHING
        if event.error_code is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._doing = _Doing.ASKING_OFFSETS
            return (AskLeaderOffsets(),)
        if event.error_code is not ErrorCode.NONE:
            # Fenced, unknown or moved leaders: the metadata log will say more. Till then, now and again.
            return self._failed(event.asked, event.now)
        if event.diverging is not None:
            return self._cut(self._where_to_cut(event.diverging))
        self._doing = _Doing.READY if event.records_end_offset is None else _Doing.APPENDING
        self._leaders_high_watermark = event.high_watermark
        moved = self._advance()
        appending = (AppendRecords(),) if event.records_end_offset is not None else ()
        return (*appending, *moved, *self._follow_log_start(event.log_start_offset))

    def _failed(self, asked: FetchFrom, now: Millis) -> tuple[FollowerEffect, ...]:
        if asked == self._asked and self._doing in (_Doing.FETCHING, _Doing.ASKING_OFFSETS):
            self._doing = _Doing.READY
            self._retry_at = Millis(now + self._retry_ms)
        return _NOTHING

    def _records_appended(self, end_offset: int) -> tuple[FollowerEffect, ...]:
        if self._doing is not _Doing.APPENDING or end_offset < self._end:
            raise InvariantError(
                f"a follower that is {self._doing} and ends at {self._end} got records up to {end_offset}"
            )
        self._end = end_offset
        self._doing = _Doing.READY
        return _NOTHING

    def _local_log_flushed(self, end_offset: int) -> tuple[FollowerEffect, ...]:
        if not self._flushed <= end_offset <= self._end:
            raise InvariantError(
                f"our own log had {self._flushed} on disk and now has {end_offset}, with its end at "
                f"{self._end}"
            )
        self._flushed = end_offset
        return self._advance()

    def _log_truncated(self, event: LogTruncated) -> tuple[FollowerEffect, ...]:
        if self._doing is not _Doing.TRUNCATING:
            raise InvariantError(f"a follower that is {self._doing} has cut its log")
        self._log_start = event.log_start_offset
        self._end = self._flushed = event.end_offset
        self._high_watermark = Offset(min(self._high_watermark, event.end_offset))
        self._high_watermark = Offset(max(self._high_watermark, event.log_start_offset))
        self._doing = _Doing.READY
        self.validate()
        return _NOTHING

    def _leader_offsets_received(self, event: LeaderOffsetsReceived) -> tuple[FollowerEffect, ...]:
        if event.asked != self._asked or self._doing is not _Doing.ASKING_OFFSETS:
            return _NOTHING
        if event.log_end_offset < self._end:
            return self._cut(event.log_end_offset)
        if event.log_start_offset > self._end:
            self._doing = _Doing.TRUNCATING
            return (StartAfresh(offset=event.log_start_offset),)
        self._doing = _Doing.READY
        return _NOTHING

    def _where_to_cut(self, leaders: EpochEnd) -> int:
        offset = truncation_offset(self._history, log_end_offset=self._end, leaders=leaders)
        return max(offset, self._log_start)

    def _cut(self, offset: int) -> tuple[FollowerEffect, ...]:
        if offset < self._high_watermark and not self._may_lose_committed:
            raise InvariantError(
                f"leader {self._leader} of epoch {self._leader_epoch} ends at {offset}, but everything below "
                f"{self._high_watermark} was committed: it has lost acknowledged records. If an unclean "
                "election was meant, set unclean.leader.election.enable on the topic; this replica then "
                "drops them too"
            )
        self._doing = _Doing.TRUNCATING
        return (TruncateLog(offset=offset),)

    def _follow_log_start(self, leaders_log_start: int) -> tuple[FollowerEffect, ...]:
        """Forget what the leader has deleted, as far as it is committed here."""
        offset = min(leaders_log_start, self._high_watermark)
        if offset <= self._log_start:
            return ()
        self._log_start = offset
        return (AdvanceLogStart(offset=offset),)

    def _advance(self) -> tuple[FollowerEffect, ...]:
        reached = min(self._leaders_high_watermark, self._flushed)
        if reached <= self._high_watermark:
            return ()
        self._high_watermark = Offset(reached)
        return (PublishHighWatermark(offset=self._high_watermark),)
