"""DescribeGroups (key 15): the state and members of classic groups.

Behaviour: what members said of themselves is shown for the chosen protocol, so only in a Stable group. A
group that is not there, or is of another kind, is Dead; since version 6 that is an error, too.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.classic_group import ClassicGroup
from penstock.groups.group_state import GroupState
from penstock.groups.live_group import LiveGroup
from penstock.groups.member import Member
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

UNKNOWN_GROUP_SINCE_VERSION = 6


def describe_groups(state: ShardState, event: RequestReceived, request: DescribeGroupsRequest) -> Outcome:
    """Answer a DescribeGroups request."""
    groups = tuple(_described(state, group_id, event.api_version) for group_id in request.groups)
    return answer(event.token, DescribeGroupsResponse(groups=groups))


def _described(state: ShardState, group_id: str, api_version: int) -> DescribedGroup:
    group = state.groups.get(group_id)
    if isinstance(group, ClassicGroup):
        return _classic(group.live)
    if api_version < UNKNOWN_GROUP_SINCE_VERSION:
        return DescribedGroup(group_id=group_id, group_state=GroupState.DEAD)
    reason = "not found" if group is None else "is not a classic group"
    return DescribedGroup(
        group_id=group_id,
        group_state=GroupState.DEAD,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=f"Group {group_id} {reason}.",
    )


def _classic(group: LiveGroup) -> DescribedGroup:
    chosen = group.protocol_name if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state,
        protocol_type=group.protocol_type or "",
        protocol_data=chosen or "",
        members=tuple(_member(member, chosen) for member in group.members),
    )


def _member(member: Member, chosen: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if chosen is None else member.metadata(chosen),
        member_assignment=member.assignment,
    )
