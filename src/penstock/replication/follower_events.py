"""What happens to a follower of a partition, and what it orders."""

from dataclasses import dataclass
from typing import TypeAlias

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import LeaderEpoch, Millis
from penstock.replication.divergence import EpochEnd
from penstock.replication.leader_events import LocalLogFlushed, PublishHighWatermark


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFrom:
    """What to ask the leader for; the offset also says what is on our disk."""

    offset: int
    #: Of our last record, for the leader to see whether it is the leader's too.
    last_fetched_epoch: int
    current_leader_epoch: LeaderEpoch
    log_start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSent:
    """What ``fetch_position`` said is on its way."""

    position: FetchFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswered:
    """The leader's answer to a fetch."""

    #: Which one. An answer that comes late must not be taken for that to another.
    asked: FetchFrom
    now: Millis
    error_code: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    log_start_offset: int = -1
    diverging: EpochEnd | None = None
    #: Where the records that came end; None if none came.
    records_end_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFailed:
    """No answer came."""

    asked: FetchFrom
    now: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsAppended:
    """What was fetched is in our log, not yet on disk."""

    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTruncated:
    """Our log has been cut, on disk too, and begins and ends here now."""

    log_start_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderOffsetsReceived:
    """Where the leader's log begins and ends, as we asked after a fetch out of its range."""

    asked: FetchFrom
    log_start_offset: int
    log_end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendRecords:
    """Append what the last answer brought, then flush."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLog:
    """Cut off our log from here on, on disk, before anything else is appended."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAfresh:
    """Drop our log: the leader has deleted what would come next. Go on from here."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceLogStart:
    """The leader has deleted what lies before; so may we."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskLeaderOffsets:
    """Ask the leader where its log begins and ends."""


FollowerEvent: TypeAlias = (
    FetchSent
    | FetchAnswered
    | FetchFailed
    | RecordsAppended
    | LocalLogFlushed
    | LogTruncated
    | LeaderOffsetsReceived
)
FollowerEffect: TypeAlias = (
    AppendRecords | TruncateLog | StartAfresh | AdvanceLogStart | AskLeaderOffsets | PublishHighWatermark
)
