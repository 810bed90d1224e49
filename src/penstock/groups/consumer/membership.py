"""How members come into a consumer group, take each other's place, move on, and go, in either protocol."""

from collections.abc import Collection
from dataclasses import replace

from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.member import ConsumerMember
from penstock.groups.consumer.reconciliation import Goal, reconcile
from penstock.groups.consumer.records import member_records, profile_record, progress_record, target_record
from penstock.groups.consumer.target import refresh
from penstock.groups.consumer.timers import ConsumerTimers
from penstock.groups.consumer_records import ConsumerGroupMemberMetadataValue
from penstock.groups.context import ShardContext
from penstock.groups.partitions import NO_PARTITIONS, Partitions, TopicIdPartition
from penstock.groups.timers import DeadlineKind
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.consumer_group_heartbeat import JOIN_EPOCH


def find_member(ledger: Ledger, member_id: str, instance_id: str | None) -> ConsumerMember:
    """The member that sends a request; UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID if it is none."""
    if instance_id is not None:
        holder = ledger.static_member(instance_id)
        if holder is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Nobody has the instance id {instance_id}.")
        if holder.member_id != member_id:
            raise ApiError(
                ErrorCode.FENCED_INSTANCE_ID, f"The instance id {instance_id} belongs to another member."
            )
        return holder
    member = ledger.members.get(member_id)
    if member is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {ledger.group_id} has no member {member_id}.")
    return member


def check_room(ledger: Ledger, member_id: str, instance_id: str | None, limit: int) -> None:
    """Refuse one more member than there may be; who takes another's place is none."""
    has_place = member_id in ledger.members or instance_id in ledger.static_ids
    if not has_place and len(ledger.members) >= limit:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED, f"Group {ledger.group_id} has {limit} members, and no room."
        )


def take_place(draft: Draft, old: ConsumerMember, new_id: str, timers: ConsumerTimers) -> ConsumerMember:
    """Give the place of a static member to its next self, with all that it has and is to have."""
    progress = replace(old.progress, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH)
    member = ConsumerMember(member_id=new_id, profile=old.profile, progress=progress)
    target = draft.ledger.targets.get(old.member_id, NO_PARTITIONS)
    _strike(draft, old.member_id)
    draft.extend(member_records(draft.group_id, member, target))
    timers.end_session(old.member_id)
    return member


def describe_itself(draft: Draft, member_id: str, profile: ConsumerGroupMemberMetadataValue) -> bool:
    """Write down what a member says of itself; whether another assignment follows from that."""
    known = draft.ledger.members.get(member_id)
    if known is not None and (known.profile is profile or known.profile == profile):
        return False
    draft.write(profile_record(draft.group_id, member_id, profile))
    return known is None or _wants(known.profile) != _wants(profile)


def move_on(
    draft: Draft, member_id: str, owned: Partitions | None, timers: ConsumerTimers, now: Millis
) -> ConsumerMember:
    """Let a member come as far towards its target as what it owns, and what others own, allows."""
    ledger = draft.ledger
    member = ledger.members[member_id]
    if member.progress.is_reconciled_to(ledger.target_epoch):
        return member

    def is_held(partition: TopicIdPartition) -> bool:
        return ledger.owners.get(partition, member_id) != member_id

    target = ledger.targets.get(member_id, NO_PARTITIONS)
    goal = Goal(epoch=ledger.target_epoch, target=target, is_held=is_held)
    progress = reconcile(member.progress, goal, owned)
    if progress == member.progress:
        return member
    draft.write(progress_record(draft.group_id, member_id, progress))
    moved = draft.ledger.members[member_id]
    timers.expect_revocation(moved, now)
    return moved


def remove(draft: Draft, member_ids: Collection[str], context: ShardContext, now: Millis) -> None:
    """Let members go. What they had is free at once; another assignment comes with the next heartbeat."""
    timers = ConsumerTimers(context, draft.group_id)
    for member_id in member_ids:
        _strike(draft, member_id)
        timers.end_session(member_id)
    refresh(draft, context, now, has_changed=True)
    note_who_is_left(draft, timers, now)


def note_who_is_left(draft: Draft, timers: ConsumerTimers, now: Millis) -> None:
    """If nobody speaks the group's protocol any more, it is to become a classic group."""
    members = draft.ledger.members.values()
    if members and all(member.speaks_classic for member in members):
        timers.at_once(DeadlineKind.DOWNGRADE, now)


def _strike(draft: Draft, member_id: str) -> None:
    """The order is Kafka's: what a member has goes first, and the member itself last."""
    group_id = draft.group_id
    draft.write(
        progress_record(group_id, member_id, None),
        target_record(group_id, member_id, None),
        profile_record(group_id, member_id, None),
    )


def _wants(profile: ConsumerGroupMemberMetadataValue) -> tuple[frozenset[str], str]:
    return frozenset(profile.subscribed_topic_names), profile.subscribed_topic_regex or ""
