"""SyncGroup (key 14): the leader says who gets what, and every member learns its part.

Behaviour: followers wait for the leader. The leader's assignment is in the log before anybody learns of it;
members it does not name get empty bytes. In a Stable group the assignment is given again, to members that
come late or have lost the answer. In the join phase the answer is REBALANCE_IN_PROGRESS: join first.

Version notes: 3 static members; 5 the protocol type and name are checked if they are there.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, Reply, answer
from penstock.groups.group_record import generation_record
from penstock.groups.group_state import GroupState
from penstock.groups.live_group import LiveGroup
from penstock.groups.member import Member, Parked
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def sync(group: LiveGroup, event: RequestReceived, request: SyncGroupRequest, now: Millis) -> Outcome:
    """Decide on a SyncGroup request; the answer may come with a later outcome."""
    member = group.check_member(request.member_id, request.group_instance_id)
    group.check_generation(request.generation_id)
    _check_protocol(group, request)
    if group.state is GroupState.PREPARING_REBALANCE:
        raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
    _note_sync(group, member)
    if group.state is GroupState.STABLE:
        group.hear_of(member, now)
        return answer(event.token, _synced(group, member.assignment))
    # What waits for it already was sent on a connection that it has given up.
    outcome = group.refuse_sync(member, ErrorCode.REBALANCE_IN_PROGRESS)
    member.parked_sync = Parked(token=event.token, api_version=event.api_version)
    if member.member_id == group.leader_id:
        return outcome + _assign(group, request, now)
    return outcome


def _check_protocol(group: LiveGroup, request: SyncGroupRequest) -> None:
    """Refuse a member that is in another protocol than its group; clients of old do not say."""
    for said, chosen in (
        (request.protocol_type, group.protocol_type),
        (request.protocol_name, group.protocol_name),
    ):
        if said is not None and said != chosen:
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _note_sync(group: LiveGroup, member: Member) -> None:
    member.owes_sync = False
    if not any(each.owes_sync for each in group.members):
        group.timers.end_sync_phase()


def _assign(group: LiveGroup, request: SyncGroupRequest, now: Millis) -> Outcome:
    """Write the generation down as the leader has assigned it, and answer all who wait for that."""
    assignments = {each.member_id: each.assignment for each in request.assignments}
    group.is_decided = True
    replies = []
    for member in group.members:
        parked, member.parked_sync = member.parked_sync, None
        if parked is not None:
            group.hear_of(member, now)
            assigned = _synced(group, assignments.get(member.member_id, b""))
            replies.append(Reply(token=parked.token, response=assigned))
    return Outcome(records=(generation_record(group, assignments, now),), replies=tuple(replies))


def _synced(group: LiveGroup, assignment: bytes) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=assignment
    )
