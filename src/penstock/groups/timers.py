"""The deadlines of groups: a session ends, a join or sync phase is over, offsets are to be looked at."""

from enum import StrEnum
from typing import NamedTuple

from penstock.coordinator.deadlines import Deadlines
from penstock.model.ids import Millis


class DeadlineKind(StrEnum):
    """What happens at a deadline."""

    SESSION = "session"
    JOIN_PHASE = "join phase"
    SYNC_PHASE = "sync phase"
    #: A member of a consumer group has not let go of partitions in time.
    REVOCATION = "revocation"
    #: A member of a consumer group that speaks the classic protocol has not joined again in time.
    MEMBER_JOIN = "member join"
    #: Such a member has not asked for its assignment in time.
    MEMBER_SYNC = "member sync"
    #: Nobody in a consumer group speaks its protocol any more.
    DOWNGRADE = "downgrade"
    #: A classic group has been a consumer group, and needs a round.
    ROUND = "round"
    OFFSET_EXPIRY = "offset expiry"
    OFFSET_SWEEP = "offset sweep"


class GroupDeadline(NamedTuple):
    """Which deadline it is; at most one of each kind, group and member."""

    kind: DeadlineKind
    group_id: str = ""
    member_id: str = ""


class GroupTimers:
    """The deadlines of one group, kept among those of its shard."""

    __slots__ = ("_deadlines", "_group_id", "_join_phase", "_sync_phase")

    def __init__(self, deadlines: Deadlines[GroupDeadline], group_id: str) -> None:
        self._deadlines = deadlines
        self._group_id = group_id
        self._join_phase = GroupDeadline(DeadlineKind.JOIN_PHASE, group_id)
        self._sync_phase = GroupDeadline(DeadlineKind.SYNC_PHASE, group_id)

    @property
    def has_join_phase(self) -> bool:
        """Whether the join phase will end by itself."""
        return self._join_phase in self._deadlines

    @property
    def has_sync_phase(self) -> bool:
        """Whether the sync phase will end by itself."""
        return self._sync_phase in self._deadlines

    def has_session(self, member_id: str) -> bool:
        """Whether a member that falls silent will be noticed."""
        return self._session(member_id) in self._deadlines

    def start_session(self, member_id: str, due: Millis) -> None:
        """Expect to hear of a member before ``due``, however long it had before."""
        self._deadlines.set(self._session(member_id), due)

    def end_session(self, member_id: str) -> None:
        """Expect nothing of a member any more."""
        self._deadlines.cancel(self._session(member_id))

    def start_join_phase(self, due: Millis) -> None:
        """Let the join phase end then."""
        self._deadlines.set(self._join_phase, due)

    def end_join_phase(self) -> None:
        """The join phase is over."""
        self._deadlines.cancel(self._join_phase)

    def start_sync_phase(self, due: Millis) -> None:
        """Let the sync phase end then."""
        self._deadlines.set(self._sync_phase, due)

    def end_sync_phase(self) -> None:
        """The sync phase is over."""
        self._deadlines.cancel(self._sync_phase)

    def _session(self, member_id: str) -> GroupDeadline:
        return GroupDeadline(DeadlineKind.SESSION, self._group_id, member_id)
