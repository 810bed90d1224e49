"""A classic group: what the log says of it, and the live group that runs ahead of that.

The hard part is ``stored``, the newest record; it changes only in ``replay``. The soft part is ``live``. A
record is a full statement about the group, so replaying one makes both the same again.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, CoordinatorRecord, Outcome
from penstock.groups.consumer_protocol import PROTOCOL_TYPE
from penstock.groups.context import ShardContext
from penstock.groups.group import Committer, GroupKind, PartitionRule
from penstock.groups.group_record import group_tombstone
from penstock.groups.group_state import GroupState
from penstock.groups.heartbeat import heartbeat
from penstock.groups.join import join
from penstock.groups.leave import leave
from penstock.groups.live_group import LiveGroup
from penstock.groups.rebalance import begin_round, join_phase_over, session_over, sync_phase_over
from penstock.groups.records import NO_TIMESTAMP, GroupMetadataValue
from penstock.groups.sync import sync
from penstock.groups.timers import DeadlineKind, GroupDeadline
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import Millis
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.messages.sync_group import SyncGroupRequest


class ClassicGroup:
    """One group whose members assign among themselves; without members it may still have offsets."""

    __slots__ = ("live", "stored")

    kind = GroupKind.CLASSIC

    def __init__(self, group_id: str, context: ShardContext) -> None:
        #: What the log says; none for a group that only has offsets, or has had no generation yet.
        self.stored: GroupMetadataValue | None = None
        self.live = LiveGroup(group_id, context)

    @property
    def group_id(self) -> str:
        """Its name."""
        return self.live.group_id

    @property
    def state_name(self) -> str:
        """Its state, as ListGroups shows it."""
        return self.live.state

    @property
    def protocol_type(self) -> str | None:
        """What its members use it for; none when it has never had any."""
        return self.live.protocol_type

    @property
    def member_count(self) -> int:
        """How many members it has."""
        return len(self.live.members)

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        return self.live.state is GroupState.EMPTY

    @property
    def is_abandoned(self) -> bool:
        """Whether it has no members, and expects none."""
        return self.is_empty and not self.live.members.pending_count

    @property
    def is_void(self) -> bool:
        """Whether nothing would be lost if memory forgot it."""
        return self.stored is None and self.is_abandoned

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody waits for an answer."""
        return any(each.parked_join or each.parked_sync for each in self.live.members)

    @property
    def is_decided(self) -> bool:
        """Whether a record of it has to be replayed before anything else can be decided."""
        return self.live.is_decided

    def replay(self, record: GroupMetadataValue) -> None:
        """Become what a record says."""
        self.stored = record
        self.live.settle(record)

    def serve(self, event: RequestReceived, now: Millis) -> Outcome:
        """Decide on a request of a member."""
        match event.request:
            case JoinGroupRequest():
                return join(self.live, event, event.request, now)
            case SyncGroupRequest():
                return sync(self.live, event, event.request, now)
            case HeartbeatRequest():
                return heartbeat(self.live, event, event.request, now)
            case LeaveGroupRequest():
                return leave(self.live, event, event.request, now)
            case _:
                # A request of another kind of group's protocol.
                raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def expire(self, deadline: GroupDeadline, now: Millis) -> Outcome:
        """One of its deadlines is over."""
        match deadline.kind:
            case DeadlineKind.SESSION:
                return session_over(self.live, deadline.member_id, now)
            case DeadlineKind.JOIN_PHASE:
                return join_phase_over(self.live, now)
            case DeadlineKind.SYNC_PHASE:
                return sync_phase_over(self.live, now)
            case DeadlineKind.ROUND:
                return self._begin_owed_round(now)
            case DeadlineKind.DOWNGRADE:
                return NOTHING  # It has become a classic group already, by becoming empty.
            case _:
                raise InvariantError(f"group {self.group_id!r} has no deadline {deadline.kind}")

    def loaded(self, now: Millis) -> Outcome:
        """Begin all sessions anew, and a new round if the group has become too large, or owes one."""
        for member in self.live.members:
            self.live.hear_of(member, now)
        if len(self.live.members) > self.live.context.settings.group_max_size:
            return begin_round(self.live, now)
        return self._begin_owed_round(now)

    def unload(self, code: ErrorCode) -> Outcome:
        """Answer whoever waits, and forget all deadlines."""
        outcome = NOTHING
        self.live.timers.end_join_phase()
        self.live.timers.end_sync_phase()
        for member in self.live.members:
            outcome += self.live.refuse_waiting(member, code)
            self.live.timers.end_session(member.member_id)
        for member_id in self.live.members.pending:
            self.live.timers.end_session(member_id)
        return outcome

    def check_offset_commit(self, committer: Committer) -> PartitionRule | None:
        """Let members of this generation commit, and outsiders while there are no members."""
        is_outsider = committer.generation_or_epoch < 0
        if is_outsider and self.is_empty:
            return None
        is_anonymous = is_outsider and not committer.member_id and committer.group_instance_id is None
        if not is_anonymous:
            self.live.check_member(committer.member_id, committer.group_instance_id)
            self.live.check_generation(committer.generation_or_epoch)
        if committer.is_transactional:
            return None  # Producers of old cannot say who they are, and none is bound to a round's phases.
        if is_anonymous:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if self.live.state is GroupState.COMPLETING_REBALANCE:
            # It has learned of the new generation, but its offsets are of the one before.
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
        return None

    def note_offset_commit(self, committer: Committer, now: Millis) -> None:
        """A commit is a sign of life."""
        member = self.live.members.get(committer.member_id)
        if member is not None:
            self.live.hear_of(member, now)

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Let everybody ask."""

    def check_offset_delete(self) -> None:
        """Refuse if there are members and the coordinator cannot know what they read."""
        if not self.is_empty and self.protocol_type != PROTOCOL_TYPE:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_deletable(self) -> None:
        """Refuse while there are members."""
        if not self.is_empty:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a consumer reads this topic; if the coordinator cannot tell, it may."""
        if self.protocol_type != PROTOCOL_TYPE:
            return False
        return self.live.subscribed_topics is None or topic in self.live.subscribed_topics

    def retention_start(self, commit_timestamp: int) -> int | None:
        """From the last commit or, if that is later, from when the last member left.

        A group with members needs its offsets. Of a Stable group of consumers it is known what it reads;
        for topics it does not read any more (``is_subscribed_to``) the last commit counts.
        """
        if self.is_empty:
            emptied = NO_TIMESTAMP if self.stored is None else self.stored.current_state_timestamp
            return max(commit_timestamp, emptied)
        is_working = self.live.state is GroupState.STABLE and self.live.subscribed_topics is not None
        return commit_timestamp if is_working else None

    def hard_state(self) -> GroupMetadataValue | None:
        """What the log says of it."""
        return self.stored

    def tombstones(self) -> tuple[CoordinatorRecord, ...]:
        """The record that deletes it, if the log knows it."""
        return () if self.stored is None else (group_tombstone(self.group_id),)

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        self.live.validate()
        self._validate_generation()
        if self.live.state is GroupState.STABLE:
            self._validate_members()

    def _begin_owed_round(self, now: Millis) -> Outcome:
        """A generation without a leader was not made by one: the group was a consumer group until then."""
        owes_round = self.stored is not None and bool(self.stored.members) and self.stored.leader is None
        if owes_round and self.live.state is GroupState.STABLE:
            return begin_round(self.live, now)
        return NOTHING

    def _validate_generation(self) -> None:
        """Memory is ahead of the log in the sync phase, and may be in a join phase that follows one."""
        ahead = self.live.generation - (0 if self.stored is None else self.stored.generation)
        is_syncing = self.live.state is GroupState.COMPLETING_REBALANCE
        if ahead < is_syncing:
            raise InvariantError(f"group {self.group_id!r} is back at generation {self.live.generation}")
        if ahead and self.live.state in (GroupState.EMPTY, GroupState.STABLE):
            raise InvariantError(f"group {self.group_id!r} has a generation that is not in the log")

    def _validate_members(self) -> None:
        stored = () if self.stored is None else self.stored.members
        live = {member.member_id: member.assignment for member in self.live.members}
        if live != {member.member_id: member.assignment for member in stored}:
            raise InvariantError(f"group {self.group_id!r} has other members than the log says")
