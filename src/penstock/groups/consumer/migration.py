"""Groups that change their kind while they work (KIP-848, migration).

*Upgrade.* When the first client that speaks the consumer protocol joins a classic group of consumers, the
group becomes a consumer group. What the log says of the last generation is what its members have; they go on
speaking the classic protocol, and learn from their next heartbeat to join again. Whoever waits in a round
under way is told that there is another one. A group whose own assignor tells members more than their
partitions stays what it is, as in Kafka: nobody would tell them that any more.

*Downgrade.* When the last client that speaks the consumer protocol is gone and others are left, the group
becomes a classic group again: its members keep what they have, and begin a round. It is done as soon as
nobody is left, in a step of its own, so that it does not matter how they went; a coordinator that takes over
finds out by itself. That the round is still to come is written down by leaving the leader out.

Groups without members change their kind freely. The setting ``group.consumer.migration.policy`` is only about
those that have some.
"""

from collections import Counter
from collections.abc import Iterator

from penstock.coordinator.outcome import NOTHING, CoordinatorRecord, Outcome
from penstock.groups.classic_group import ClassicGroup
from penstock.groups.consumer.classic_members import encode_assignment
from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.member import ConsumerMember, Progress
from penstock.groups.consumer.records import (
    epoch_record,
    member_records,
    no_partition_metadata,
    pattern_record,
    profile_record,
    progress_record,
    target_epoch_record,
    target_record,
)
from penstock.groups.consumer.timers import ConsumerTimers
from penstock.groups.consumer_protocol import (
    PROTOCOL_TYPE,
    ConsumerProtocolAssignment,
    read_assignment,
    read_subscription,
)
from penstock.groups.consumer_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupRecord,
)
from penstock.groups.context import ShardContext
from penstock.groups.group_record import encoded
from penstock.groups.live_group import LiveGroup
from penstock.groups.partitions import Partitions, TopicIdPartition
from penstock.groups.records import (
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataRecord,
    GroupMetadataValue,
)
from penstock.groups.timers import DeadlineKind
from penstock.groups.topics import Topics
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis

_COMMON_ASSIGNORS = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky"})
"""Those that clients bring along. What they say beside partitions, as librdkafka's sticky one does, is for
themselves alone; what others say is for their applications, and no coordinator would go on saying it."""


def upgraded(group: ClassicGroup, context: ShardContext, now: Millis) -> Draft:
    """The consumer group that a classic group with members would become.

    GROUP_ID_NOT_FOUND if it cannot become one: then there is no consumer group of that name.
    """
    _check_upgradable(group, context)
    draft = Draft(Ledger(group.group_id))
    epoch = group.live.generation
    draft.write(epoch_record(group.group_id, epoch))
    for member in _members_of(group, context.catalog.topics):
        draft.extend(member_records(group.group_id, member, member.assigned_partitions()))
    draft.write(target_epoch_record(group.group_id, epoch, now))
    return draft


def replace_classic(group: ClassicGroup, draft: Draft, context: ShardContext, now: Millis) -> Outcome:
    """It has become one: delete the classic group, and send away whoever waits in it.

    Sessions go on, now those of the consumer group.
    """
    outcome = Outcome(records=group.tombstones()) + group.unload(ErrorCode.REBALANCE_IN_PROGRESS)
    timers = ConsumerTimers(context, group.group_id)
    for member in draft.ledger.members.values():
        timers.hear_of(member, now)
    return outcome


def downgrade(ledger: Ledger, context: ShardContext, now: Millis) -> Outcome:
    """Make a consumer group that has only members of the classic protocol a classic group, if that may be."""
    if not _is_downgradable(ledger, context):
        return NOTHING
    protocol = _common_protocol(ledger)
    if protocol is None:
        return NOTHING
    value = GroupMetadataValue(
        protocol_type=PROTOCOL_TYPE,
        generation=max(member.progress.epoch for member in ledger.members.values()),
        protocol=protocol,
        leader=None,
        current_state_timestamp=now,
        members=tuple(
            _classic_member(member, protocol, context.catalog.topics) for member in ledger.members.values()
        ),
    )
    timers = ConsumerTimers(context, ledger.group_id)
    for member_id in ledger.members:
        timers.keep_session_only(member_id)
    timers.at_once(DeadlineKind.ROUND, now)
    record = GroupMetadataRecord(key=GroupMetadataKey(group_id=ledger.group_id), value=value)
    return Outcome(records=(*tombstones(ledger), encoded(record)))


def tombstones(ledger: Ledger) -> tuple[CoordinatorRecord, ...]:
    """The records that delete all the log knows of a consumer group; the group itself goes last."""
    return tuple(map(encoded, _tombstones(ledger)))


def _tombstones(ledger: Ledger) -> Iterator[ConsumerGroupRecord]:
    group_id = ledger.group_id
    yield from (progress_record(group_id, member_id, None) for member_id in ledger.members)
    yield from (target_record(group_id, member_id, None) for member_id in ledger.targets)
    yield target_epoch_record(group_id, None)
    yield from (profile_record(group_id, member_id, None) for member_id in ledger.members)
    yield from (pattern_record(group_id, pattern, None) for pattern in ledger.patterns)
    if ledger.has_partition_metadata:
        yield no_partition_metadata(group_id)
    yield epoch_record(group_id, None)


def _check_upgradable(group: ClassicGroup, context: ShardContext) -> None:
    settings = context.settings
    reasons = {
        "upgrades are disabled": settings.group_consumer_migration_policy.allows_upgrade,
        "its members are no consumers": group.protocol_type == PROTOCOL_TYPE,
        "it has too many members": len(group.live.members) <= settings.group_consumer_max_size,
    }
    for reason, holds in reasons.items():
        if not holds:
            raise _not_upgradable(group.group_id, reason)


def _not_upgradable(group_id: str, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Group {group_id} is a classic group, and cannot become a consumer group: {reason}.",
    )


def _members_of(group: ClassicGroup, topics: Topics) -> Iterator[ConsumerMember]:
    """The members of the generation that the log knows; those of a round under way come by themselves."""
    stored = group.stored
    if stored is None:
        return
    taken: set[TopicIdPartition] = set()
    for member in stored.members:
        subscription = read_subscription(member.subscription)
        assignment = read_assignment(member.assignment)
        if subscription is None or assignment is None:
            raise _not_upgradable(group.group_id, f"what member {member.member_id} says cannot be read")
        if assignment.user_data and stored.protocol not in _COMMON_ASSIGNORS:
            reason = f"its assignor {stored.protocol} tells members more than their partitions"
            raise _not_upgradable(group.group_id, reason)
        profile = ConsumerGroupMemberMetadataValue(
            instance_id=member.group_instance_id,
            rack_id=subscription.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=tuple(sorted(set(subscription.topics))),
            rebalance_timeout_ms=max(member.rebalance_timeout, 0) or member.session_timeout,
            classic_member_metadata=ClassicMemberMetadata(
                session_timeout_ms=member.session_timeout,
                supported_protocols=_protocols(group.live, member, stored.protocol or ""),
            ),
        )
        # Members may have assigned one partition twice; to the coordinator it is the first one's.
        own = _assigned(assignment, topics) - taken
        taken |= own
        progress = Progress(
            epoch=stored.generation,
            previous_epoch=stored.generation,
            assigned=dict.fromkeys(sorted(own), stored.generation),
        )
        yield ConsumerMember(member_id=member.member_id, profile=profile, progress=progress)


def _assigned(assignment: ConsumerProtocolAssignment, topics: Topics) -> Partitions:
    return frozenset(
        TopicIdPartition(topics.id_of(of.topic), partition)
        for of in assignment.assigned_partitions
        for partition in of.partitions
        if topics.has_partition(of.topic, partition)
    )


def _protocols(live: LiveGroup, stored: GroupMetadataMember, chosen: str) -> tuple[ClassicProtocol, ...]:
    """What a member supports, the chosen one first; of one only the log knows, nothing else is known."""
    protocols = {chosen: stored.subscription}
    member = live.members.get(stored.member_id)
    for each in () if member is None else member.protocols:
        protocols.setdefault(each.name, each.metadata)
    return tuple(ClassicProtocol(name=name, metadata=bytes(data)) for name, data in protocols.items())


def _is_downgradable(ledger: Ledger, context: ShardContext) -> bool:
    settings = context.settings
    return (
        bool(ledger.members)
        and all(member.speaks_classic for member in ledger.members.values())
        and settings.group_consumer_migration_policy.allows_downgrade
        and len(ledger.members) <= settings.group_max_size
    )


def _common_protocol(ledger: Ledger) -> str | None:
    """What all support; of several what most like best."""
    supported = [_metadata_by_protocol(member) for member in ledger.members.values()]
    common = [name for name in supported[0] if all(name in each for each in supported)]
    votes = Counter(next(name for name in each if name in common) for each in supported if common)
    return max(common, key=lambda name: votes[name], default=None)


def _metadata_by_protocol(member: ConsumerMember) -> dict[str, bytes]:
    protocols = () if member.classic is None else member.classic.supported_protocols
    return {protocol.name: protocol.metadata for protocol in protocols}


def _classic_member(member: ConsumerMember, protocol: str, topics: Topics) -> GroupMetadataMember:
    profile = member.profile
    return GroupMetadataMember(
        member_id=member.member_id,
        group_instance_id=profile.instance_id,
        client_id=profile.client_id,
        client_host=profile.client_host,
        rebalance_timeout=profile.rebalance_timeout_ms,
        session_timeout=0 if member.classic is None else member.classic.session_timeout_ms,
        subscription=_metadata_by_protocol(member)[protocol],
        assignment=encode_assignment(member, topics),
    )
