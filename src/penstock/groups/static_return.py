"""A static member comes back (KIP-345): its client has restarted, knows its instance id and has no member id.

It takes over the place of its instance under a new member id. The old id is fenced from now on: if two
clients share an instance id by mistake, the one that joined last goes on, and the other learns why it may
not.

In a Stable group whose protocol stays what it is nobody else notices: no round begins, and the assignment
of the instance is waiting. The new member id is in the log before the client learns of it, since all that
it does next depends on it. If the instance leads, it is told to leave the assignment as it is since version
9 (KIP-814); a client of old cannot be told that, so it learns that its former self leads, and will not
assign either.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.group_record import generation_record
from penstock.groups.group_state import GroupState
from penstock.groups.live_group import LiveGroup
from penstock.groups.member import Member, Parked, new_member
from penstock.groups.rebalance import membership_changed
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.wire.schema import replace

SKIP_ASSIGNMENT_SINCE_VERSION = 9


def take_over(
    group: LiveGroup, event: RequestReceived, request: JoinGroupRequest, new_id: str, now: Millis
) -> Outcome:
    """Give the place of an instance to the client that has just joined with its instance id."""
    old_id = group.members.static_id(request.group_instance_id) or ""
    old_leader = group.leader_id
    fenced = group.refuse_waiting(group.members[old_id], ErrorCode.FENCED_INSTANCE_ID)
    member = _replace(group, old_id, new_member(event, request, new_id))
    group.hear_of(member, now)
    if group.state is GroupState.STABLE and group.members.choose_protocol() == group.protocol_name:
        return fenced + _resume(group, member, event, old_leader, now)
    group.members.park_join(member, Parked(token=event.token, api_version=event.api_version))
    return fenced + membership_changed(group, now)


def _replace(group: LiveGroup, old_id: str, member: Member) -> Member:
    old = group.members.remove(old_id)
    group.timers.end_session(old_id)
    member.assignment = old.assignment
    member.owes_sync = old.owes_sync
    group.members.add(member)
    if group.leader_id == old_id:
        group.leader_id = member.member_id
    return member


def _resume(
    group: LiveGroup, member: Member, event: RequestReceived, old_leader: str | None, now: Millis
) -> Outcome:
    """Write the new member id down, and let the member go on where its instance was."""
    assignments = {each.member_id: each.assignment for each in group.members}
    group.is_decided = True
    record = generation_record(group, assignments, now)
    response = _resumed(group.joined(member), event.api_version, old_leader or "")
    return Outcome(records=(record,)) + answer(event.token, response)


def _resumed(response: JoinGroupResponse, api_version: int, old_leader: str) -> JoinGroupResponse:
    if api_version >= SKIP_ASSIGNMENT_SINCE_VERSION:
        return replace(response, skip_assignment=response.leader == response.member_id)
    return replace(response, leader=old_leader, members=())
