"""A consumer group: what the log says of it (its ledger), and what a shard asks of any kind of group.

Hardly anything of it is soft. Deadlines are kept among those of the shard; nobody ever waits for an answer;
and at which version of the topics the group was looked at last only says whether to look again.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, CoordinatorRecord, Outcome
from penstock.groups.consumer import classic_members
from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.heartbeat import heartbeat
from penstock.groups.consumer.invariants import check_ledger, check_timers
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.member import ConsumerMember
from penstock.groups.consumer.membership import note_who_is_left, remove
from penstock.groups.consumer.migration import downgrade, tombstones
from penstock.groups.consumer.timers import ConsumerTimers
from penstock.groups.consumer_protocol import PROTOCOL_TYPE
from penstock.groups.consumer_records import ConsumerGroupRecord
from penstock.groups.context import ShardContext
from penstock.groups.group import Committer, GroupKind, PartitionRule
from penstock.groups.partitions import TopicIdPartition
from penstock.groups.timers import DeadlineKind, GroupDeadline
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, TopicPartition
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.messages.sync_group import SyncGroupRequest

MEMBER_EPOCHS_SINCE_VERSION = 9
"""Of OffsetCommit: members that speak the consumer protocol use this version or a later one."""

NEVER_LOOKED = -1


class ConsumerGroup:
    """One group that its coordinator assigns."""

    __slots__ = ("_context", "_seen_version", "ledger")

    kind = GroupKind.CONSUMER
    protocol_type = PROTOCOL_TYPE
    is_decided = False

    def __init__(self, group_id: str, context: ShardContext) -> None:
        self.ledger = Ledger(group_id)
        self._context = context
        #: The version of the topics that the ledger takes account of.
        self._seen_version = NEVER_LOOKED

    @property
    def group_id(self) -> str:
        """Its name."""
        return self.ledger.group_id

    @property
    def state_name(self) -> str:
        """Its state, as ListGroups shows it."""
        ledger = self.ledger
        if not ledger.members:
            return "Empty"
        if ledger.epoch > ledger.target_epoch:
            return "Assigning"
        members = ledger.members.values()
        if all(each.progress.is_reconciled_to(ledger.target_epoch) for each in members):
            return "Stable"
        return "Reconciling"

    @property
    def member_count(self) -> int:
        """How many members it has."""
        return len(self.ledger.members)

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        return not self.ledger.members

    @property
    def is_abandoned(self) -> bool:
        """Whether it has no members, and expects none."""
        return self.is_empty

    @property
    def is_void(self) -> bool:
        """Whether nothing would be lost if memory forgot it."""
        return self.ledger.is_blank

    def replay(self, record: ConsumerGroupRecord) -> None:
        """Become what a record says."""
        self.ledger.apply(record)

    def serve(self, event: RequestReceived, now: Millis) -> Outcome:
        """Decide on a request of a member, whichever protocol it speaks."""
        draft = Draft(self.ledger)
        outcome = self._decide(draft, event, now)
        if draft.has_seen_topics:
            self._seen_version = self._context.catalog.version
        return outcome

    def expire(self, deadline: GroupDeadline, now: Millis) -> Outcome:
        """One of its deadlines is over: a member is late, and removed."""
        if deadline.kind is DeadlineKind.DOWNGRADE:
            return downgrade(self.ledger, self._context, now)
        if deadline.member_id not in self.ledger.members:
            return NOTHING
        draft = Draft(self.ledger)
        remove(draft, (deadline.member_id,), self._context, now)
        return Outcome(records=draft.records())

    def loaded(self, now: Millis) -> Outcome:
        """Begin all sessions anew."""
        timers = ConsumerTimers(self._context, self.group_id)
        for member in self.ledger.members.values():
            timers.hear_of(member, now)
            timers.expect_revocation(member, now)
        note_who_is_left(Draft(self.ledger), timers, now)
        return NOTHING

    def unload(self, code: ErrorCode) -> Outcome:
        """Forget all deadlines; nobody waits."""
        timers = ConsumerTimers(self._context, self.group_id)
        for member_id in self.ledger.members:
            timers.end_session(member_id)
        timers.cancel(DeadlineKind.DOWNGRADE, "")
        return NOTHING

    def check_offset_commit(self, committer: Committer) -> PartitionRule | None:
        """Let members commit at their epoch, and outsiders while there are no members.

        A member at an older epoch may still commit what it has held since then: it has not read the answer
        that moved it on yet, and nobody else can have read that partition.
        """
        is_outsider = committer.generation_or_epoch < 0
        if is_outsider and self.is_empty:
            return None
        is_anonymous = is_outsider and not committer.member_id and committer.group_instance_id is None
        if is_anonymous and committer.is_transactional:
            return None  # Producers of old cannot say who they are.
        member = self._member(committer.member_id)
        is_old = committer.api_version < MEMBER_EPOCHS_SINCE_VERSION
        if is_old and not committer.is_transactional and not member.speaks_classic:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        epoch = committer.generation_or_epoch
        if epoch == member.progress.epoch:
            return None
        if member.speaks_classic or not 0 <= epoch < member.progress.epoch:
            raise _stale(member)

        def rule(partition: TopicPartition) -> ErrorCode:
            topic_id = self._context.catalog.topics.id_of(partition.topic)
            since = member.progress.assigned.get(TopicIdPartition(topic_id, partition.partition))
            is_held = since is not None and since <= epoch
            return ErrorCode.NONE if is_held else ErrorCode.STALE_MEMBER_EPOCH

        return rule

    def note_offset_commit(self, committer: Committer, now: Millis) -> None:
        """A commit is no sign of life here: heartbeats do not wait for anything."""

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Let members ask at their epoch, and whoever does not say that it is one."""
        if member_id is None and member_epoch < 0:
            return
        member = self._member(member_id or "")
        if member_epoch != member.progress.epoch:
            raise _stale(member)

    def check_offset_delete(self) -> None:
        """Leave it to what members read."""

    def check_deletable(self) -> None:
        """Refuse while there are members."""
        if not self.is_empty:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member reads this topic."""
        return topic in self.ledger.subscribed_topics

    def retention_start(self, commit_timestamp: int) -> int | None:
        """From the last commit: of topics that nobody reads any more, that is all there is to go by."""
        return commit_timestamp

    def hard_state(self) -> object:
        """What the log says of it."""
        return self.ledger.state()

    def tombstones(self) -> tuple[CoordinatorRecord, ...]:
        """The records that delete it."""
        return tombstones(self.ledger)

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        check_ledger(self.ledger)
        check_timers(self.ledger, ConsumerTimers(self._context, self.group_id))

    @property
    def _is_stale(self) -> bool:
        return self._seen_version != self._context.catalog.version

    def _decide(self, draft: Draft, event: RequestReceived, now: Millis) -> Outcome:
        context, is_stale = self._context, self._is_stale
        match event.request:
            case ConsumerGroupHeartbeatRequest() as request:
                return heartbeat(draft, event, request, context, now, is_stale=is_stale)
            case HeartbeatRequest() as request:
                return classic_members.heartbeat(draft, event, request, context, now, is_stale=is_stale)
            case JoinGroupRequest() as request:
                return classic_members.join(draft, event, request, context, now)
            case SyncGroupRequest() as request:
                return classic_members.sync(self.ledger, event, request, context, now)
            case LeaveGroupRequest() as request:
                return classic_members.leave(draft, event, request, context, now)
            case _:
                # A request of another kind of group's protocol.
                raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _member(self, member_id: str) -> ConsumerMember:
        member = self.ledger.members.get(member_id)
        if member is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member


def _stale(member: ConsumerMember) -> ApiError:
    """Each protocol has its own word for it."""
    code = ErrorCode.ILLEGAL_GENERATION if member.speaks_classic else ErrorCode.STALE_MEMBER_EPOCH
    return ApiError(code)
