"""Fetch sessions (KIP-227): a consumer names its partitions once and afterwards only what changes.

A session is a list of partitions with the position last asked for, and what was last answered. Requests:

======================  ==========================================================================
session id, epoch       meaning
======================  ==========================================================================
0, -1                   no session wanted: the request names everything
any, 0                  open a session with the partitions named here (closing the one given)
id, -1                  close the session; the request names everything
id, n > 0               incremental: change or forget what is named, fetch everything in the session
======================  ==========================================================================

An incremental answer holds only partitions with news. Opening may always be refused by answering session
id 0; so the cache is small and bounded, and an old idle session makes room for a new one. Names cost memory
too, real or not, and every request looks at all that its session has: so they are bounded as sessions are. A
session that grows beyond that is dropped, and its owner, told that it is not found, opens a new one or does
without. (Brokers that copy from us have sessions of another kind, which hold only partitions that are here.)
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.limits import PARTITIONS_PER_FETCH_SESSION_MAX, PARTITIONS_PER_FETCH_SESSIONS_MAX

FINAL_EPOCH = -1
INITIAL_EPOCH = 0
EPOCH_MAX = 2**31 - 1
NO_SESSION = 0

EVICTION_AGE_MS = 120_000
"""A session used more recently than this keeps its place."""


class PartitionKey(NamedTuple):
    """A partition as the request names it: by topic name before version 13, by topic id from then on."""

    topic: str
    topic_id: bytes
    partition: int


class FetchPosition(NamedTuple):
    """What a consumer wants of one partition."""

    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int
    last_fetched_epoch: int
    log_start_offset: int


@dataclass(slots=True)
class _SessionPartition:
    position: FetchPosition
    #: What the last answer said; None before the first.
    high_watermark: int | None = None
    log_start_offset: int | None = None


@dataclass(slots=True)
class FetchSession:
    """One consumer's standing request."""

    session_id: int
    uses_topic_ids: bool
    next_epoch: int
    used_at_ms: int
    partitions: dict[PartitionKey, _SessionPartition] = field(default_factory=dict)

    def advance(self) -> None:
        """Count the request just taken in; the epoch after the largest is 1, since 0 opens a session."""
        self.next_epoch = 1 if self.next_epoch == EPOCH_MAX else self.next_epoch + 1


@dataclass(slots=True, kw_only=True)
class FetchPlan:
    """What one request asks for once its session is taken into account."""

    session: FetchSession | None
    is_incremental: bool
    positions: list[tuple[PartitionKey, FetchPosition]]

    @property
    def session_id(self) -> int:
        """The id to answer with."""
        return NO_SESSION if self.session is None else self.session.session_id

    def is_news(
        self,
        key: PartitionKey,
        *,
        high_watermark: int,
        log_start_offset: int,
        has_records: bool,
        is_error: bool,
    ) -> bool:
        """Whether the answer must mention the partition; remembers what was told."""
        if self.session is None or (known := self.session.partitions.get(key)) is None:
            return True
        changed = known.high_watermark != high_watermark or known.log_start_offset != log_start_offset
        known.high_watermark, known.log_start_offset = high_watermark, log_start_offset
        if is_error:
            known.high_watermark = None  # so that recovery from the error is news too
        return not self.is_incremental or changed or has_records or is_error

    def served(self, keys: Iterable[PartitionKey]) -> None:
        """Move partitions that got records to the end, so that the next answer begins with the others."""
        if self.session is None:
            return
        for key in keys:
            if (partition := self.session.partitions.pop(key, None)) is not None:
                self.session.partitions[key] = partition


class FetchSessions:
    """All sessions of a broker."""

    def __init__(
        self,
        slots: int,
        draw_id: Callable[[], int],
        *,
        session_partitions_max: int = PARTITIONS_PER_FETCH_SESSION_MAX,
        partitions_max: int = PARTITIONS_PER_FETCH_SESSIONS_MAX,
    ) -> None:
        self._slots = slots
        self._draw_id = draw_id
        self._session_partitions_max = session_partitions_max
        self._partitions_max = partitions_max
        self._sessions: dict[int, FetchSession] = {}
        #: Of all sessions together.
        self._partition_count = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def plan(
        self,
        *,
        session_id: int,
        epoch: int,
        positions: list[tuple[PartitionKey, FetchPosition]],
        forgotten: Iterator[PartitionKey],
        uses_topic_ids: bool,
        now_ms: int,
    ) -> FetchPlan:
        """Take a request into its session. Raises the top-level error when the session does not fit."""
        if epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            self._close(session_id)
            session = None
            if epoch == INITIAL_EPOCH and positions:
                session = self._open(positions, uses_topic_ids, now_ms)
            return FetchPlan(session=session, is_incremental=False, positions=positions)
        session = self._find(session_id, epoch, uses_topic_ids)
        session.used_at_ms = now_ms
        self._update(session, positions, forgotten)
        if not self._make_room(session, now_ms):
            self._close(session_id)
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        session.advance()
        if not session.partitions:
            self._close(session_id)
            return FetchPlan(session=None, is_incremental=False, positions=[])
        standing = [(key, partition.position) for key, partition in session.partitions.items()]
        return FetchPlan(session=session, is_incremental=True, positions=standing)

    def _find(self, session_id: int, epoch: int, uses_topic_ids: bool) -> FetchSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.next_epoch != epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != uses_topic_ids:
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return session

    def _update(
        self,
        session: FetchSession,
        positions: list[tuple[PartitionKey, FetchPosition]],
        forgotten: Iterator[PartitionKey],
    ) -> None:
        count_before = len(session.partitions)
        for key in forgotten:
            session.partitions.pop(key, None)
        for key, position in positions:
            known = session.partitions.get(key)
            if known is None:
                session.partitions[key] = _SessionPartition(position)
            else:
                known.position = position
        self._partition_count += len(session.partitions) - count_before

    def _open(
        self, positions: list[tuple[PartitionKey, FetchPosition]], uses_topic_ids: bool, now_ms: int
    ) -> FetchSession | None:
        if len(self._sessions) >= self._slots and not self._evict(now_ms):
            return None
        session_id = self._draw_id()
        while session_id in self._sessions or session_id == NO_SESSION:
            session_id = self._draw_id()
        session = FetchSession(session_id, uses_topic_ids, next_epoch=1, used_at_ms=now_ms)
        session.partitions = {key: _SessionPartition(position) for key, position in positions}
        self._sessions[session_id] = session
        self._partition_count += len(session.partitions)
        if not self._make_room(session, now_ms):
            self._close(session_id)
            return None
        return session

    def _close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._partition_count -= len(session.partitions)

    def _make_room(self, session: FetchSession, now_ms: int) -> bool:
        """Whether a session, just used, may hold what it does; idle ones make room for it."""
        if len(session.partitions) > self._session_partitions_max:
            return False
        while self._partition_count > self._partitions_max:
            if not self._evict(now_ms):
                return False
        return True

    def _evict(self, now_ms: int) -> bool:
        """Drop the session unused for longest, if it is old enough."""
        if not self._sessions:
            return False
        oldest = min(self._sessions.values(), key=lambda session: session.used_at_ms)
        if now_ms - oldest.used_at_ms < EVICTION_AGE_MS:
            return False
        self._close(oldest.session_id)
        return True
