"""Members of a consumer group that speak the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

While a group moves from one protocol to the other, both kinds of client are in it. For a client that speaks
the classic one a group is what it always was: it learns from a heartbeat that it has to join again, joins,
and asks for its assignment. Only that nobody waits for anybody: the coordinator assigns, so every request is
answered at once, and there is no leader. The generation is the member's epoch. What it owns it says when it
joins; a client that gives up everything before it joins owns nothing then.

Behaviour where it differs from a classic group: a member id that nobody knows is as good as any other, since
the coordinator does not remember those it gives out.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.member import ConsumerMember, MemberState
from penstock.groups.consumer.membership import (
    check_room,
    describe_itself,
    find_member,
    move_on,
    note_who_is_left,
    remove,
    take_place,
)
from penstock.groups.consumer.target import assign, refresh
from penstock.groups.consumer.timers import ConsumerTimers
from penstock.groups.consumer_protocol import (
    HIGHEST_VERSION,
    PROTOCOL_TYPE,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    ProtocolTopicPartitions,
    read_subscription,
    read_version,
    write_assignment,
)
from penstock.groups.consumer_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)
from penstock.groups.context import ShardContext
from penstock.groups.join import MEMBER_ID_REQUIRED_SINCE_VERSION
from penstock.groups.leave import leaving_members, left
from penstock.groups.member import rebalance_timeout_of
from penstock.groups.partitions import NO_PARTITIONS, Partitions, TopicIdPartition, by_topic
from penstock.groups.refusals import refused_join
from penstock.groups.timers import DeadlineKind
from penstock.groups.topics import Topics
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def join(
    draft: Draft, event: RequestReceived, request: JoinGroupRequest, context: ShardContext, now: Millis
) -> Outcome:
    """Decide on a JoinGroup request."""
    settings = context.settings
    check_room(draft.ledger, request.member_id, request.group_instance_id, settings.group_consumer_max_size)
    subscription = _subscription(draft.ledger, request)
    if not request.member_id and request.group_instance_id is None:
        new_id = context.new_member_id(event.client_id)
        if event.api_version >= MEMBER_ID_REQUIRED_SINCE_VERSION:
            refusal = refused_join(ErrorCode.MEMBER_ID_REQUIRED, new_id, event.api_version)
            return answer(event.token, refusal)
        member_id = new_id
    else:
        member_id = _enter(draft, request, context)
    profile = _profile(event, request, subscription)
    has_changed = describe_itself(draft, member_id, profile)
    refresh(draft, context, now, has_changed=has_changed)
    assign(draft, context, now)
    timers = ConsumerTimers(context, draft.group_id)
    owned = _owned(subscription, context.catalog.topics)
    member = move_on(draft, member_id, owned, timers, now)
    timers.cancel(DeadlineKind.REVOCATION, member_id)
    timers.hear_of(member, now)
    timers.expect_sync(member, now)
    note_who_is_left(draft, timers, now)
    response = JoinGroupResponse(
        generation_id=member.progress.epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=_protocol_name(member),
        member_id=member_id,
    )
    return Outcome(records=draft.records()) + answer(event.token, response)


def sync(
    ledger: Ledger, event: RequestReceived, request: SyncGroupRequest, context: ShardContext, now: Millis
) -> Outcome:
    """Answer a SyncGroup request."""
    member = _check_member(ledger, request.member_id, request.group_instance_id, request.generation_id)
    for said, known in (
        (request.protocol_type, PROTOCOL_TYPE),
        (request.protocol_name, _protocol_name(member)),
    ):
        if said is not None and said != known:
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    timers = ConsumerTimers(context, ledger.group_id)
    is_revoking = member.progress.state is MemberState.UNREVOKED_PARTITIONS
    if ledger.epoch > member.progress.epoch and not is_revoking:
        timers.expect_join(member, now)
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
    timers.cancel(DeadlineKind.MEMBER_SYNC, member.member_id)
    timers.hear_of(member, now)
    response = SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=encode_assignment(member, context.catalog.topics),
    )
    return answer(event.token, response)


def heartbeat(
    draft: Draft,
    event: RequestReceived,
    request: HeartbeatRequest,
    context: ShardContext,
    now: Millis,
    *,
    is_stale: bool,
) -> Outcome:
    """Decide on a Heartbeat request; it may be the one that notices that topics have changed."""
    member = _check_member(draft.ledger, request.member_id, request.group_instance_id, request.generation_id)
    if is_stale:
        refresh(draft, context, now, has_changed=False)
    timers = ConsumerTimers(context, draft.group_id)
    timers.hear_of(member, now)
    code = ErrorCode.NONE
    if _has_to_join(draft.ledger, member):
        timers.expect_join(member, now)
        code = ErrorCode.REBALANCE_IN_PROGRESS
    return Outcome(records=draft.records()) + answer(event.token, HeartbeatResponse(error_code=code))


def leave(
    draft: Draft, event: RequestReceived, request: LeaveGroupRequest, context: ShardContext, now: Millis
) -> Outcome:
    """Decide on a LeaveGroup request, by which administrators take out members of either protocol."""
    codes: list[ErrorCode] = []
    gone: dict[str, None] = {}
    for identity in leaving_members(request, event.api_version):
        try:
            gone[_leaving(draft.ledger, identity, gone).member_id] = None
            codes.append(ErrorCode.NONE)
        except ApiError as error:
            codes.append(error.code)
    if gone:
        remove(draft, gone, context, now)
    return Outcome(records=draft.records()) + answer(event.token, left(request, event.api_version, codes))


def encode_assignment(member: ConsumerMember, topics: Topics) -> bytes:
    """What a member has, as clients of a classic group read it; topics that are gone are left out."""
    named = [(topics.name_of(topic_id), of) for topic_id, of in by_topic(member.progress.assigned)]
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=tuple(
            ProtocolTopicPartitions(topic=name, partitions=of) for name, of in named if name is not None
        )
    )
    protocols = () if member.classic is None else member.classic.supported_protocols
    version = read_version(protocols[0].metadata) if protocols else None
    return write_assignment(assignment, version=HIGHEST_VERSION if version is None else version)


def _subscription(ledger: Ledger, request: JoinGroupRequest) -> ConsumerProtocolSubscription:
    """What a member wants to read; INCONSISTENT_GROUP_PROTOCOL if it, or its group, could not be classic."""
    others = [each for each in ledger.classic_members() if each.member_id != request.member_id]
    names = {protocol.name for protocol in request.protocols}
    for member in others:
        names.intersection_update(_protocol_names(member))
    subscription = read_subscription(request.protocols[0].metadata) if request.protocols else None
    if request.protocol_type != PROTOCOL_TYPE or not names or subscription is None:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return subscription


def _enter(draft: Draft, request: JoinGroupRequest, context: ShardContext) -> str:
    """The id of a member that has one, or is static; a static one that comes back takes its place."""
    if request.group_instance_id is None:
        return request.member_id
    if request.member_id:
        return find_member(draft.ledger, request.member_id, request.group_instance_id).member_id
    new_id = context.new_member_id(request.group_instance_id)
    holder = draft.ledger.static_member(request.group_instance_id)
    if holder is not None:
        take_place(draft, holder, new_id, ConsumerTimers(context, draft.group_id))
    return new_id


def _profile(
    event: RequestReceived, request: JoinGroupRequest, subscription: ConsumerProtocolSubscription
) -> ConsumerGroupMemberMetadataValue:
    classic = ClassicMemberMetadata(
        session_timeout_ms=request.session_timeout_ms,
        supported_protocols=tuple(
            ClassicProtocol(name=protocol.name, metadata=bytes(protocol.metadata))
            for protocol in request.protocols
        ),
    )
    return ConsumerGroupMemberMetadataValue(
        instance_id=request.group_instance_id,
        rack_id=subscription.rack_id,
        client_id=event.client_id,
        client_host=event.client_host,
        subscribed_topic_names=tuple(sorted(set(subscription.topics))),
        rebalance_timeout_ms=rebalance_timeout_of(request),
        classic_member_metadata=classic,
    )


def _owned(subscription: ConsumerProtocolSubscription, topics: Topics) -> Partitions:
    if not subscription.owned_partitions:
        return NO_PARTITIONS
    return frozenset(
        TopicIdPartition(topics.id_of(of.topic), partition)
        for of in subscription.owned_partitions
        for partition in of.partitions
        if topics.has_partition(of.topic, partition)
    )


def _check_member(ledger: Ledger, member_id: str, instance_id: str | None, generation: int) -> ConsumerMember:
    member = find_member(ledger, member_id, instance_id)
    if not member.speaks_classic:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    if generation != member.progress.epoch:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)
    return member


def _has_to_join(ledger: Ledger, member: ConsumerMember) -> bool:
    """Whether there is another assignment, or something to let go of, or something to be had by now."""
    match member.progress.state:
        case MemberState.STABLE:
            return member.progress.epoch < ledger.epoch
        case MemberState.UNREVOKED_PARTITIONS:
            return True
        case MemberState.UNRELEASED_PARTITIONS:
            target = ledger.targets.get(member.member_id, NO_PARTITIONS)
            missing = target.difference(member.progress.assigned)
            return member.progress.epoch < ledger.epoch or ledger.owners.keys().isdisjoint(missing)


def _leaving(ledger: Ledger, identity: MemberIdentity, gone: dict[str, None]) -> ConsumerMember:
    """Who is to go; an administrator may name a static member by its instance id alone."""
    instance_id = identity.group_instance_id
    member_id = identity.member_id
    if not member_id and instance_id is not None:
        member_id = ledger.static_ids.get(instance_id, "")
    member = find_member(ledger, member_id, instance_id)
    if member.member_id in gone:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member


def _protocol_names(member: ConsumerMember) -> frozenset[str]:
    protocols = () if member.classic is None else member.classic.supported_protocols
    return frozenset(protocol.name for protocol in protocols)


def _protocol_name(member: ConsumerMember) -> str:
    """What a member is told was chosen: what it likes best. Nobody but itself has to agree."""
    protocols = () if member.classic is None else member.classic.supported_protocols
    return protocols[0].name if protocols else ""
