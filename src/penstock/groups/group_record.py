"""How a classic group is written down: one record says all about a generation."""

from collections.abc import Mapping

from penstock.coordinator.outcome import CoordinatorRecord
from penstock.groups.live_group import LiveGroup
from penstock.groups.member import Member
from penstock.groups.records import (
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataRecord,
    GroupMetadataValue,
    GroupRecord,
    encode,
)
from penstock.model.ids import Millis


def encoded(record: GroupRecord) -> CoordinatorRecord:
    """A record as it goes into the log."""
    key, value = encode(record)
    return CoordinatorRecord(key=key, value=value)


def generation_record(group: LiveGroup, assignments: Mapping[str, bytes], now: Millis) -> CoordinatorRecord:
    """The present generation with what each member gets; who is not named gets nothing."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=now,
        members=tuple(
            _member(member, group.protocol_name or "", assignments.get(member.member_id, b""))
            for member in group.members
        ),
    )
    return _record(group.group_id, value)


def empty_group_record(group: LiveGroup, now: Millis) -> CoordinatorRecord:
    """The next generation, which has nobody in it; its time is when the retention of offsets begins."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation + 1,
        protocol=None,
        leader=None,
        current_state_timestamp=now,
    )
    return _record(group.group_id, value)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """The group is gone."""
    return _record(group_id, None)


def _record(group_id: str, value: GroupMetadataValue | None) -> CoordinatorRecord:
    return encoded(GroupMetadataRecord(key=GroupMetadataKey(group_id=group_id), value=value))


def _member(member: Member, protocol_name: str, assignment: bytes) -> GroupMetadataMember:
    return GroupMetadataMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.metadata(protocol_name),
        assignment=assignment,
    )
