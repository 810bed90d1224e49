"""The deadlines of one consumer group, kept among those of its shard.

All are of single members: a member that is late is removed, and the others go on. They are set when something
is decided, and begin anew when a coordinator takes over.
"""

from penstock.groups.consumer.member import ConsumerMember, MemberState
from penstock.groups.context import ShardContext
from penstock.groups.timers import DeadlineKind, GroupDeadline
from penstock.model.ids import Millis

_OF_MEMBERS = (
    DeadlineKind.SESSION,
    DeadlineKind.REVOCATION,
    DeadlineKind.MEMBER_JOIN,
    DeadlineKind.MEMBER_SYNC,
)


class ConsumerTimers:
    """When members of one group are late."""

    __slots__ = ("_deadlines", "_group_id", "_settings")

    def __init__(self, context: ShardContext, group_id: str) -> None:
        self._deadlines = context.deadlines
        self._settings = context.settings
        self._group_id = group_id

    def has(self, kind: DeadlineKind, member_id: str = "") -> bool:
        """Whether there is such a deadline."""
        return GroupDeadline(kind, self._group_id, member_id) in self._deadlines

    def hear_of(self, member: ConsumerMember, now: Millis) -> None:
        """Begin a member's session anew."""
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        else:
            timeout_ms = self._settings.group_consumer_session_timeout_ms
        self._set(DeadlineKind.SESSION, member.member_id, now, timeout_ms)

    def expect_revocation(self, member: ConsumerMember, now: Millis) -> None:
        """Give a member time to let go of what it has to, from now on, or expect nothing of it any more.

        Who speaks the classic protocol lets go when it joins again.
        """
        if member.progress.state is MemberState.UNREVOKED_PARTITIONS and not member.speaks_classic:
            timeout_ms = member.profile.rebalance_timeout_ms
            self._set(DeadlineKind.REVOCATION, member.member_id, now, timeout_ms)
        else:
            self.cancel(DeadlineKind.REVOCATION, member.member_id)

    def expect_join(self, member: ConsumerMember, now: Millis) -> None:
        """Give a member time to join again; telling it once more does not give it more."""
        if not self.has(DeadlineKind.MEMBER_JOIN, member.member_id):
            timeout_ms = member.profile.rebalance_timeout_ms
            self._set(DeadlineKind.MEMBER_JOIN, member.member_id, now, timeout_ms)

    def expect_sync(self, member: ConsumerMember, now: Millis) -> None:
        """A member has joined: give it time to ask for its assignment."""
        self.cancel(DeadlineKind.MEMBER_JOIN, member.member_id)
        self._set(DeadlineKind.MEMBER_SYNC, member.member_id, now, member.profile.rebalance_timeout_ms)

    def end_session(self, member_id: str) -> None:
        """Expect nothing of a member any more."""
        for kind in _OF_MEMBERS:
            self.cancel(kind, member_id)

    def keep_session_only(self, member_id: str) -> None:
        """Expect nothing of a member any more but a sign of life."""
        for kind in _OF_MEMBERS[1:]:
            self.cancel(kind, member_id)

    def expect_heartbeats_only(self, member_id: str) -> None:
        """A member has changed its protocol: it will neither join nor sync any more."""
        self.cancel(DeadlineKind.MEMBER_JOIN, member_id)
        self.cancel(DeadlineKind.MEMBER_SYNC, member_id)

    def at_once(self, kind: DeadlineKind, now: Millis) -> None:
        """Have something done for the whole group as soon as what was decided is replayed."""
        self._set(kind, "", now, 0)

    def cancel(self, kind: DeadlineKind, member_id: str) -> None:
        """Forget a deadline, if there is one."""
        self._deadlines.cancel(GroupDeadline(kind, self._group_id, member_id))

    def _set(self, kind: DeadlineKind, member_id: str, now: Millis, timeout_ms: int) -> None:
        due = Millis(now + max(timeout_ms, 0))
        self._deadlines.set(GroupDeadline(kind, self._group_id, member_id), due)
