"""LeaveGroup (key 13): members go, by themselves or because an administrator says so.

Until version 2 one member, and the answer's own error is its error. Since version 3 many, each with an
error of its own; an administrator may name a static member by its instance id alone. One round begins for
all who go.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, Outcome, answer
from penstock.groups.live_group import LiveGroup
from penstock.groups.rebalance import complete_join_phase_if_all_joined, membership_changed
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

MANY_MEMBERS_SINCE_VERSION = 3


def leave(group: LiveGroup, event: RequestReceived, request: LeaveGroupRequest, now: Millis) -> Outcome:
    """Decide on a LeaveGroup request."""
    outcome, codes = NOTHING, []
    count_before = len(group.members)
    for identity in leaving_members(request, event.api_version):
        gone, code = _let_go(group, identity)
        outcome += gone
        codes.append(code)
    outcome += answer(event.token, left(request, event.api_version, codes))
    if len(group.members) < count_before:
        return outcome + membership_changed(group, now)
    return outcome + complete_join_phase_if_all_joined(group, now)


def leaving_members(request: LeaveGroupRequest, api_version: int) -> tuple[MemberIdentity, ...]:
    """Who is to go, in the shape of the newest version."""
    if api_version < MANY_MEMBERS_SINCE_VERSION:
        return (MemberIdentity(member_id=request.member_id),)
    return request.members


def left(request: LeaveGroupRequest, api_version: int, codes: list[ErrorCode]) -> LeaveGroupResponse:
    """The answer, given the outcome for each member."""
    if api_version < MANY_MEMBERS_SINCE_VERSION:
        return LeaveGroupResponse(error_code=codes[0])
    return LeaveGroupResponse(
        members=tuple(
            MemberResponse(
                member_id=identity.member_id,
                group_instance_id=identity.group_instance_id,
                error_code=code,
            )
            for identity, code in zip(request.members, codes, strict=True)
        )
    )


def _let_go(group: LiveGroup, identity: MemberIdentity) -> tuple[Outcome, ErrorCode]:
    if group.members.is_pending(identity.member_id):
        group.members.remove_pending(identity.member_id)
        group.timers.end_session(identity.member_id)
        return NOTHING, ErrorCode.NONE
    member_id = identity.member_id or group.members.static_id(identity.group_instance_id) or ""
    try:
        member = group.check_member(member_id, identity.group_instance_id)
    except ApiError as error:
        return NOTHING, error.code
    return group.remove(member.member_id), ErrorCode.NONE
