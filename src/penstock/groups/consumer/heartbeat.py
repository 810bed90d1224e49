"""ConsumerGroupHeartbeat (key 68): the whole life of a member whose group the coordinator assigns (KIP-848).

Behaviour:

- A member joins with epoch 0, and leaves with -1; a static one that will be back goes with -2, keeps its
  place until its session ends, and gives it to whoever joins next under its instance id.
- Fields that are null have not changed. A request that says everything is answered with everything.
- What a member says of itself may let the group's epoch grow; then there is another assignment at once; then
  the member takes a step towards its part of it (``reconciliation``). Most heartbeats do none of that, and
  write nothing.
- A member that speaks of another epoch than its own is fenced: it has to give up what it has and join again.
  Unless it speaks of the one before and owns nothing but what it may: then an answer was lost.

Deviations from Kafka, all in favour of clients that would be stuck: a member of a group that does not exist
is UNKNOWN_MEMBER_ID, not GROUP_ID_NOT_FOUND, so that it joins again; a static member may join again under its
own member id without having left.

Version notes: 1 subscription by regular expression; members make their own ids.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.ledger import UNKNOWN_PROFILE
from penstock.groups.consumer.member import ConsumerMember
from penstock.groups.consumer.membership import (
    check_room,
    describe_itself,
    find_member,
    move_on,
    remove,
    take_place,
)
from penstock.groups.consumer.records import progress_record
from penstock.groups.consumer.target import assign, refresh
from penstock.groups.consumer.timers import ConsumerTimers
from penstock.groups.consumer_records import ConsumerGroupMemberMetadataValue
from penstock.groups.context import ShardContext
from penstock.groups.partitions import Partitions, by_topic, flatten
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.consumer_group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    UNCHANGED_TIMEOUT,
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from penstock.wire.schema import replace as changed

OWN_ID_SINCE_VERSION = 1


def check_request(request: ConsumerGroupHeartbeatRequest, api_version: int, settings: GroupSettings) -> None:
    """Refuse what makes no sense, whatever group it is about."""
    for what, holds in _rules(request, api_version).items():
        if not holds:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{what}.")
    assignors = settings.group_consumer_assignors
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"There is no assignor {request.server_assignor}; there are {', '.join(assignors)}.",
        )


def heartbeat(
    draft: Draft,
    event: RequestReceived,
    request: ConsumerGroupHeartbeatRequest,
    context: ShardContext,
    now: Millis,
    *,
    is_stale: bool,
) -> Outcome:
    """Decide on a ConsumerGroupHeartbeat of a member that is in the group, or wants in.

    The draft may have been written to: the group may only just have become a consumer group. ``is_stale``
    says that the topics have been replaced since the group looked at them last.
    """
    timers = ConsumerTimers(context, draft.group_id)
    if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
        response = _leave(draft, request, context, now)
        return Outcome(records=draft.records()) + answer(event.token, response)
    if request.subscribed_topic_regex:
        context.catalog.resolve(request.subscribed_topic_regex)  # Refuses what is no pattern.
    before = _enter(draft, event, request, context)
    has_changed = describe_itself(draft, before.member_id, _profile(before.profile, event, request))
    if has_changed or is_stale:
        refresh(draft, context, now, has_changed=has_changed)
    assign(draft, context, now)
    owned = None if request.topic_partitions is None else flatten(request.topic_partitions)
    after = move_on(draft, before.member_id, owned, timers, now)
    timers.hear_of(after, now)
    if before.speaks_classic:
        timers.expect_heartbeats_only(after.member_id)
    response = _alive(request, before, after, context.settings)
    return Outcome(records=draft.records()) + answer(event.token, response)


def _rules(request: ConsumerGroupHeartbeatRequest, api_version: int) -> dict[str, bool]:
    is_joining = request.member_epoch == JOIN_EPOCH
    makes_own_id = api_version >= OWN_ID_SINCE_VERSION
    return {
        "The group id must not be empty": bool(request.group_id),
        "The instance id must not be empty": request.instance_id != "",
        "The rack id must not be empty": request.rack_id != "",
        "The member epoch must not be below -2": request.member_epoch >= STATIC_LEAVE_EPOCH,
        "The member id must not be empty": bool(request.member_id) or (is_joining and not makes_own_id),
        "Only a static member can go for a while: an instance id is missing": (
            request.member_epoch != STATIC_LEAVE_EPOCH or request.instance_id is not None
        ),
        "Who joins must have a rebalance timeout": (
            not is_joining or request.rebalance_timeout_ms != UNCHANGED_TIMEOUT
        ),
        "Who joins must own no partitions, and say so": not is_joining or request.topic_partitions == (),
        "Who joins must subscribe to topics, by name or regular expression": (
            not is_joining or bool(request.subscribed_topic_names or request.subscribed_topic_regex)
        ),
    }


def _leave(
    draft: Draft, request: ConsumerGroupHeartbeatRequest, context: ShardContext, now: Millis
) -> ConsumerGroupHeartbeatResponse:
    member = find_member(draft.ledger, request.member_id, request.instance_id)
    if request.member_epoch == STATIC_LEAVE_EPOCH and not member.speaks_classic:
        _go_away(draft, member, ConsumerTimers(context, draft.group_id))
    else:
        remove(draft, (member.member_id,), context, now)
    return ConsumerGroupHeartbeatResponse(member_id=member.member_id, member_epoch=request.member_epoch)


def _go_away(draft: Draft, member: ConsumerMember, timers: ConsumerTimers) -> None:
    """Keep the place of a static member that will be back. It has let go of everything it had to."""
    away = member.progress.at(STATIC_LEAVE_EPOCH).released()
    draft.write(progress_record(draft.group_id, member.member_id, away))
    timers.keep_session_only(member.member_id)


def _enter(
    draft: Draft, event: RequestReceived, request: ConsumerGroupHeartbeatRequest, context: ShardContext
) -> ConsumerMember:
    """The member as it was before this heartbeat; in the draft only once it has said who it is."""
    if request.member_epoch != JOIN_EPOCH:
        member = find_member(draft.ledger, request.member_id, request.instance_id)
        _check_epoch(member, request)
        return member
    ledger = draft.ledger
    check_room(ledger, request.member_id, request.instance_id, context.settings.group_consumer_max_size)
    member_id = request.member_id or context.new_member_id(request.instance_id or event.client_id)
    holder = ledger.static_member(request.instance_id)
    if holder is None or holder.member_id == member_id:
        return ledger.members.get(member_id) or ConsumerMember(member_id=member_id, profile=UNKNOWN_PROFILE)
    if not holder.speaks_classic and not holder.is_away:
        raise ApiError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"The instance id {request.instance_id} belongs to member {holder.member_id}, which is there.",
        )
    return take_place(draft, holder, member_id, ConsumerTimers(context, draft.group_id))


def _check_epoch(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> None:
    epoch = member.progress.epoch
    if request.member_epoch == epoch:
        return
    is_repeated = request.member_epoch == member.progress.previous_epoch < epoch
    if is_repeated and request.topic_partitions is not None:
        owned = flatten(request.topic_partitions)
        if owned.issubset(member.progress.assigned):
            return
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The member is at epoch {epoch}, not {request.member_epoch}; it must give up everything and join.",
    )


def _profile(
    known: ConsumerGroupMemberMetadataValue, event: RequestReceived, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupMemberMetadataValue:
    """What the member says of itself, with what it said before where it says nothing."""
    changes: dict[str, object] = {"classic_member_metadata": None}
    said = {
        "instance_id": request.instance_id,
        "rack_id": request.rack_id,
        "client_id": event.client_id,
        "client_host": event.client_host,
        "server_assignor": request.server_assignor,
    }
    changes |= {name: value for name, value in said.items() if value is not None}
    if request.subscribed_topic_names is not None:
        changes["subscribed_topic_names"] = tuple(sorted(set(request.subscribed_topic_names)))
    if request.subscribed_topic_regex is not None:
        changes["subscribed_topic_regex"] = request.subscribed_topic_regex or None
    if request.rebalance_timeout_ms != UNCHANGED_TIMEOUT:
        changes["rebalance_timeout_ms"] = request.rebalance_timeout_ms
    is_same = all(getattr(known, name) == value for name, value in changes.items())
    return known if is_same else changed(known, **changes)


def _alive(
    request: ConsumerGroupHeartbeatRequest,
    before: ConsumerMember,
    after: ConsumerMember,
    settings: GroupSettings,
) -> ConsumerGroupHeartbeatResponse:
    has_subscription = (
        request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    )
    says_all = (
        request.rebalance_timeout_ms != UNCHANGED_TIMEOUT
        and has_subscription
        and request.topic_partitions is not None
    )
    is_told = (
        request.member_epoch == JOIN_EPOCH
        or says_all
        or before.progress.assigned.keys() != after.progress.assigned.keys()
    )
    return ConsumerGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.progress.epoch,
        heartbeat_interval_ms=settings.group_consumer_heartbeat_interval_ms,
        assignment=_assignment(after.assigned_partitions()) if is_told else None,
    )


def _assignment(partitions: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=tuple(
            TopicPartitions(topic_id=topic_id, partitions=of) for topic_id, of in by_topic(partitions)
        )
    )
