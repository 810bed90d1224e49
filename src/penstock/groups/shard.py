"""All groups of one partition of ``__consumer_offsets``, of every kind, with their offsets: one machine.

The door has five handles. ``handle`` takes a request and ``tick`` the time; both decide, and answer with an
``Outcome``. ``replay`` and ``complete_transaction`` take in what the log says; only they change hard state.
``loaded`` says that the log has been read to its end: sessions begin. The order in which the shell uses
them is told in ``penstock.coordinator.outcome``.

A kind of group is found by its group's id and does the rest itself (``penstock.groups.group``). To add one:
let ``_serve`` send its requests to it, and ``replay`` its records.
"""

from collections import deque
from collections.abc import Callable
from typing import TypeAlias, assert_never

from penstock.coordinator.deadlines import Deadlines
from penstock.coordinator.events import RequestReceived, TopicsDeleted
from penstock.coordinator.outcome import NOTHING, CoordinatorRecord, Outcome, answer
from penstock.groups.catalog import TopicCatalog
from penstock.groups.classic_group import ClassicGroup
from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer.describe import describe_consumer_groups
from penstock.groups.consumer.door import serve_heartbeat
from penstock.groups.consumer_records import ConsumerGroupMetadataRecord, ConsumerGroupRecord
from penstock.groups.context import ShardContext
from penstock.groups.delete_groups import delete_groups
from penstock.groups.describe_groups import describe_groups
from penstock.groups.group import Group
from penstock.groups.group_summary import GroupSummary
from penstock.groups.leave import leaving_members, left
from penstock.groups.list_groups import list_groups
from penstock.groups.offset_commit import commit_offsets
from penstock.groups.offset_delete import delete_offsets
from penstock.groups.offset_fetch import fetch_offsets
from penstock.groups.offset_sweep import OffsetSweep, of_check, of_deleted, step
from penstock.groups.records import GroupMetadataRecord, OffsetCommitRecord, decode
from penstock.groups.refusals import refuse
from penstock.groups.settings import GroupSettings
from penstock.groups.shard_state import ShardState
from penstock.groups.timers import DeadlineKind, GroupDeadline
from penstock.groups.topics import Topics
from penstock.groups.txn_offset_commit import commit_transactional_offsets
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import NO_PRODUCER_ID, Millis
from penstock.model.limits import GROUP_RECORDS_PER_TICK
from penstock.model.patterns import CompilePattern, compile_pattern
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.offset_commit import OffsetCommitRequest
from penstock.wire.messages.offset_delete import OffsetDeleteRequest
from penstock.wire.messages.offset_fetch import OffsetFetchRequest
from penstock.wire.messages.sync_group import SyncGroupRequest
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest

Event: TypeAlias = RequestReceived | TopicsDeleted

_EXPIRY = GroupDeadline(DeadlineKind.OFFSET_EXPIRY)
_SWEEP = GroupDeadline(DeadlineKind.OFFSET_SWEEP)


class GroupShard:
    """One shard."""

    __slots__ = ("_deadlines", "_state", "_sweeps")

    def __init__(
        self,
        *,
        settings: GroupSettings,
        topics: Topics,
        new_uuid: Callable[[], bytes],
        compile_pattern: CompilePattern = compile_pattern,
    ) -> None:
        self._deadlines: Deadlines[GroupDeadline] = Deadlines()
        context = ShardContext(
            settings=settings,
            deadlines=self._deadlines,
            catalog=TopicCatalog(topics, compile_pattern),
            new_uuid=new_uuid,
        )
        self._state = ShardState(context=context)
        #: Sweeps that have begun; the first is at work.
        self._sweeps: deque[OffsetSweep] = deque()

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self._state.groups)

    def summaries(self) -> list[GroupSummary]:
        """All groups and how far they are, as of now."""
        return [
            GroupSummary(
                group_id=group_id,
                state_name=group.state_name,
                member_count=group.member_count,
                offsets={
                    partition: committed.value.offset
                    for partition, committed in self._state.offsets.of_group(group_id).items()
                },
            )
            for group_id, group in self._state.groups.items()
        ]

    def use_topics(self, topics: Topics) -> None:
        """From now on these are the topics there are.

        That is all there is to do: consumer groups look at them with the next heartbeat of a member.
        """
        self._state.context.catalog.replace(topics)

    def handle(self, event: Event, now: Millis) -> Outcome:
        """Decide on an event. Requests that cannot be served are answered with their error."""
        match event:
            case RequestReceived():
                return self._handle_request(event, now)
            case TopicsDeleted():
                self._begin_sweep(of_deleted(event.topics), now)
                return NOTHING
            case _:
                assert_never(event)

    def tick(self, now: Millis) -> Outcome:
        """Do what is due; if ``next_deadline`` is not later than now afterwards, there is more to do."""
        outcome = NOTHING
        postponed = []
        decided: set[str] = set()
        while len(outcome.records) < GROUP_RECORDS_PER_TICK:
            deadline = self._deadlines.pop_due(now)
            if deadline is None:
                break
            group = self._state.groups.get(deadline.group_id)
            if group is not None and (group.is_decided or deadline.group_id in decided):
                postponed.append(deadline)
                continue
            expired = self._expire(deadline, group, now)
            if expired.records:
                decided.add(deadline.group_id)
            outcome += expired
        for deadline in postponed:
            self._deadlines.set(deadline, now)
        if self._sweeps:
            self._deadlines.set(_SWEEP, now)
        return outcome

    def next_deadline(self) -> Millis | None:
        """When ``tick`` has something to do."""
        return self._deadlines.next()

    def replay(
        self,
        record: CoordinatorRecord,
        *,
        offset: int,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = -1,
    ) -> None:
        """Take in a record of the log; with a producer id it is part of that producer's open transaction."""
        decoded = decode(record.key, record.value)
        match decoded:
            case OffsetCommitRecord():
                self._replay_offset(decoded, offset, producer_id)
            case GroupMetadataRecord():
                self._replay_classic_group(decoded)
            case None:
                pass  # Of a kind of group that this shard does not keep.
            case _:
                self._replay_consumer_group(decoded)

    def complete_transaction(self, producer_id: int, producer_epoch: int, *, is_commit: bool) -> None:
        """The log has the marker that ends a producer's transaction."""
        for group_id in self._state.offsets.complete_transaction(producer_id, is_commit=is_commit):
            self._forget_if_void(group_id)

    def loaded(self, now: Millis) -> Outcome:
        """All of the log has been replayed: begin to serve."""
        self._start_expiry(now)
        outcome = NOTHING
        for _, group in sorted(self._state.groups.items()):
            outcome += group.loaded(now)
        return outcome

    def hard_state(self) -> tuple[object, object]:
        """A value that says what the log says, to compare it with that of another shard."""
        groups = {group_id: group.hard_state() for group_id, group in self._state.groups.items()}
        stored = {group_id: value for group_id, value in groups.items() if value is not None}
        return stored, self._state.offsets.hard_state()

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        self._deadlines.validate()
        self._state.offsets.validate()
        for group_id, group in self._state.groups.items():
            group.validate()
            if group.is_void and not self._state.offsets.has_any(group_id):
                raise InvariantError(f"group {group_id!r} is kept for nothing")
        for group_id in self._state.offsets.group_ids():
            if group_id not in self._state.groups:
                raise InvariantError(f"group {group_id!r} has offsets and does not exist")

    def _handle_request(self, event: RequestReceived, now: Millis) -> Outcome:
        try:
            return self._serve(event, now)
        except ApiError as error:
            return answer(event.token, refuse(event.request, event.api_version, error.code, error.message))

    def _serve(self, event: RequestReceived, now: Millis) -> Outcome:
        match event.request:
            case JoinGroupRequest() as request:
                return self._join(event, request, now)
            case SyncGroupRequest(group_id=group_id) | HeartbeatRequest(group_id=group_id):
                return self._serve_member(event, group_id, now)
            case LeaveGroupRequest() as request:
                return self._leave(event, request, now)
            case OffsetCommitRequest() as request:
                return commit_offsets(self._state, event, request, now)
            case TxnOffsetCommitRequest() as request:
                _check_group_id(request.group_id)
                return commit_transactional_offsets(self._state, event, request, now)
            case OffsetFetchRequest() as request:
                return fetch_offsets(self._state, event, request)
            case OffsetDeleteRequest() as request:
                _check_group_id(request.group_id)
                return delete_offsets(self._state, event, request)
            case ConsumerGroupHeartbeatRequest() as request:
                return serve_heartbeat(self._state, event, request, now)
            case _:
                return self._administer(event)

    def _administer(self, event: RequestReceived) -> Outcome:
        match event.request:
            case ConsumerGroupDescribeRequest() as request:
                return describe_consumer_groups(self._state, event, request)
            case DescribeGroupsRequest() as request:
                return describe_groups(self._state, event, request)
            case ListGroupsRequest() as request:
                return list_groups(self._state, event, request)
            case DeleteGroupsRequest() as request:
                return delete_groups(self._state, event, request)
            case _:
                raise InvariantError(f"{type(event.request).__name__} is no request about groups")

    def _join(self, event: RequestReceived, request: JoinGroupRequest, now: Millis) -> Outcome:
        _check_group_id(request.group_id)
        settings = self._state.context.settings
        lowest, highest = settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms
        if not lowest <= request.session_timeout_ms <= highest:
            raise ApiError(ErrorCode.INVALID_SESSION_TIMEOUT)
        group = self._state.groups.get(request.group_id)
        if isinstance(group, ConsumerGroup) and group.is_empty:
            return self._join_emptied(event, group, now)
        if group is None and not request.member_id:
            self._create(request.group_id)
        try:
            return self._serve_member(event, request.group_id, now)
        finally:
            self._forget_if_void(request.group_id)

    def _join_emptied(self, event: RequestReceived, group: ConsumerGroup, now: Millis) -> Outcome:
        """A consumer group without members becomes whatever the next one wants it to be.

        What it becomes knows no members: who comes with an id has to come again without.
        """
        classic = ClassicGroup(group.group_id, self._state.context)
        joined = classic.serve(event, now)
        self._state.groups[group.group_id] = classic
        return Outcome(records=group.tombstones()) + joined

    def _leave(self, event: RequestReceived, request: LeaveGroupRequest, now: Millis) -> Outcome:
        _check_group_id(request.group_id)
        if request.group_id in self._state.groups:
            outcome = self._serve_member(event, request.group_id, now)
            self._forget_if_void(request.group_id)
            return outcome
        # Not the request is refused but every member of it.
        codes = [ErrorCode.UNKNOWN_MEMBER_ID for _ in leaving_members(request, event.api_version)]
        return answer(event.token, left(request, event.api_version, codes))

    def _serve_member(self, event: RequestReceived, group_id: str, now: Millis) -> Outcome:
        _check_group_id(group_id)
        group = self._state.groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if group.is_decided:
            raise InvariantError(f"a record of group {group_id!r} was not replayed before the next request")
        return group.serve(event, now)

    def _expire(self, deadline: GroupDeadline, group: Group | None, now: Millis) -> Outcome:
        match deadline.kind:
            case DeadlineKind.OFFSET_EXPIRY:
                self._start_expiry(now)
                for sweep in of_check(self._state):
                    self._begin_sweep(sweep, now)
                return NOTHING
            case DeadlineKind.OFFSET_SWEEP:
                return self._sweep(now)
        if group is None:
            return NOTHING
        outcome = group.expire(deadline, now)
        self._forget_if_void(deadline.group_id)
        return outcome

    def _start_expiry(self, now: Millis) -> None:
        interval_ms = self._state.context.settings.offsets_retention_check_interval_ms
        self._deadlines.set(_EXPIRY, Millis(now + interval_ms))

    def _begin_sweep(self, sweep: OffsetSweep, now: Millis) -> None:
        self._sweeps.append(sweep)
        self._deadlines.set(_SWEEP, now)

    def _sweep(self, now: Millis) -> Outcome:
        """One step of the first sweep. The next comes with the next tick, when its records are replayed."""
        records = step(self._sweeps[0], self._state, now)
        if self._sweeps[0].is_done:
            self._sweeps.popleft()
        return Outcome(records=records)

    def _replay_offset(self, record: OffsetCommitRecord, offset: int, producer_id: int) -> None:
        group_id = record.key.group_id
        self._state.offsets.replay(record.key, record.value, offset=offset, producer_id=producer_id)
        if record.value is None:
            self._forget_if_void(group_id)
        else:
            self._find_or_create(group_id)

    def _replay_classic_group(self, record: GroupMetadataRecord) -> None:
        group_id = record.key.group_id
        group = self._state.groups.get(group_id)
        if record.value is None:
            if isinstance(group, ClassicGroup):
                if group.is_waited_for:
                    raise InvariantError(f"group {group_id!r} was deleted while members wait")
                self._remove(group)
            return
        if not isinstance(group, ClassicGroup):
            group = self._create(group_id)
        group.replay(record.value)

    def _replay_consumer_group(self, record: ConsumerGroupRecord) -> None:
        group = self._state.groups.get(record.key.group_id)
        if isinstance(group, ConsumerGroup):
            group.replay(record)
            if isinstance(record, ConsumerGroupMetadataRecord) and record.value is None:
                self._remove(group)
        elif record.value is not None:
            group = ConsumerGroup(record.key.group_id, self._state.context)
            self._state.groups[group.group_id] = group
            group.replay(record)

    def _find_or_create(self, group_id: str) -> Group:
        group = self._state.groups.get(group_id)
        return self._create(group_id) if group is None else group

    def _create(self, group_id: str) -> ClassicGroup:
        group = ClassicGroup(group_id, self._state.context)
        self._state.groups[group_id] = group
        return group

    def _remove(self, group: Group) -> None:
        """Forget a group; if it has offsets nevertheless, it is one that only has offsets.

        A group that has members is not deleted but replaced by one of another kind: their sessions go on.
        """
        if group.is_empty:
            group.unload(ErrorCode.UNKNOWN_MEMBER_ID)
        del self._state.groups[group.group_id]
        if self._state.offsets.has_any(group.group_id):
            self._create(group.group_id)

    def _forget_if_void(self, group_id: str) -> None:
        group = self._state.groups.get(group_id)
        if group is not None and group.is_void and not self._state.offsets.has_any(group_id):
            self._remove(group)


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)
