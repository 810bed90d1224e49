"""JoinGroup (key 11): how members come into a classic group, and come again.

Behaviour:

- A member without an id is new. A static one is admitted at once, or takes over the place of its instance. A
  dynamic one is sent back with an id since version 4 (KIP-394): clients that give up on a slow first join and
  try again would else fill the group with members that do not exist.
- A member that is admitted or has changed begins a new round, and waits until all others have joined it.
- A member that asks again for the generation it is in, because an answer was lost, gets that answer again.
  The leader of a Stable group does not: it asks because it wants to assign anew.
- A static member that returns takes over its place: see ``static_return``.

Version notes: 0 has no rebalance timeout, the session's counts; 4 MEMBER_ID_REQUIRED; 5 static members.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, Outcome, answer
from penstock.groups.group_state import GroupState
from penstock.groups.live_group import LiveGroup
from penstock.groups.member import Member, Parked, new_member, rebalance_timeout_of
from penstock.groups.rebalance import complete_join_phase_if_all_joined, membership_changed
from penstock.groups.refusals import refused_join
from penstock.groups.static_return import take_over
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.model.limits import PENDING_MEMBERS_PER_GROUP_MAX
from penstock.wire.messages.join_group import JoinGroupRequest

MEMBER_ID_REQUIRED_SINCE_VERSION = 4


def join(group: LiveGroup, event: RequestReceived, request: JoinGroupRequest, now: Millis) -> Outcome:
    """Decide on a JoinGroup request; the answer may come with a later outcome."""
    known_id = request.member_id or group.members.static_id(request.group_instance_id)
    if not _has_room(group, known_id):
        return _turn_away(group, event, request, now)
    _check_protocols(group, request, known_id)
    if not request.member_id:
        return _join_without_id(group, event, request, now)
    if group.members.is_pending(request.member_id) and request.group_instance_id is None:
        return _admit(group, event, request, request.member_id, now)
    member = group.check_member(request.member_id, request.group_instance_id)
    if _is_generation_asked_for_again(group, member, request):
        group.hear_of(member, now)
        return answer(event.token, group.joined(member))
    return _join_again(group, member, event, request, now)


def _has_room(group: LiveGroup, known_id: str | None) -> bool:
    """Whether the group may have one more member, or the joining one has its place already.

    In the join phase a place belongs to those who have joined: if the limit was lowered, the last to join
    are turned away.
    """
    limit = group.context.settings.group_max_size
    member = group.members.get(known_id or "")
    if group.state is GroupState.PREPARING_REBALANCE:
        has_place = member is not None and member.parked_join is not None
        return has_place or group.members.joined_count < limit
    return member is not None or len(group.members) < limit


def _turn_away(group: LiveGroup, event: RequestReceived, request: JoinGroupRequest, now: Millis) -> Outcome:
    outcome = NOTHING
    if request.member_id in group.members:
        outcome = group.remove(request.member_id)
    if group.members.is_pending(request.member_id):
        group.members.remove_pending(request.member_id)
        group.timers.end_session(request.member_id)
    refusal = refused_join(ErrorCode.GROUP_MAX_SIZE_REACHED, "", event.api_version)
    return outcome + answer(event.token, refusal) + complete_join_phase_if_all_joined(group, now)


def _check_protocols(group: LiveGroup, request: JoinGroupRequest, known_id: str | None) -> None:
    """Refuse a member with whom the group would have no protocol that all support."""
    names = [protocol.name for protocol in request.protocols]
    if group.members:
        fits = request.protocol_type == group.protocol_type
        fits = fits and group.members.do_all_support_one_of(names, besides=known_id)
    else:
        fits = bool(request.protocol_type and names)
    if not fits:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _join_without_id(
    group: LiveGroup, event: RequestReceived, request: JoinGroupRequest, now: Millis
) -> Outcome:
    if request.group_instance_id is not None:
        new_id = group.context.new_member_id(request.group_instance_id)
        if group.members.static_id(request.group_instance_id) is not None:
            return take_over(group, event, request, new_id, now)
        return _admit(group, event, request, new_id, now)
    new_id = group.context.new_member_id(event.client_id)
    if event.api_version < MEMBER_ID_REQUIRED_SINCE_VERSION:
        return _admit(group, event, request, new_id, now)
    return _require_id(group, event, request, new_id, now)


def _require_id(
    group: LiveGroup, event: RequestReceived, request: JoinGroupRequest, new_id: str, now: Millis
) -> Outcome:
    """Send a member back with an id; it is expected to use it within its session timeout."""
    if group.members.pending_count >= PENDING_MEMBERS_PER_GROUP_MAX:
        raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED)
    group.members.add_pending(new_id)
    group.timers.start_session(new_id, Millis(now + request.session_timeout_ms))
    return answer(event.token, refused_join(ErrorCode.MEMBER_ID_REQUIRED, new_id, event.api_version))


def _admit(
    group: LiveGroup, event: RequestReceived, request: JoinGroupRequest, member_id: str, now: Millis
) -> Outcome:
    """Take a new member in, and let it wait for the round it begins or joins."""
    if not group.members:
        group.protocol_type = request.protocol_type
    member = new_member(event, request, member_id)
    member.is_new = True
    member.parked_join = Parked(token=event.token, api_version=event.api_version)
    group.members.add(member)
    if group.leader_id is None:
        group.leader_id = member_id
    if group.initial_delay is not None:
        group.initial_delay.has_new_members = True
    join_timeout_ms = group.context.settings.new_member_join_timeout_ms
    group.timers.start_session(member_id, Millis(now + join_timeout_ms))
    return membership_changed(group, now)


def _is_generation_asked_for_again(group: LiveGroup, member: Member, request: JoinGroupRequest) -> bool:
    """Whether the answer of the present generation is what the member needs."""
    if member.protocols != request.protocols:
        return False
    if group.state is GroupState.STABLE:
        return member.member_id != group.leader_id
    return group.state is GroupState.COMPLETING_REBALANCE


def _join_again(
    group: LiveGroup, member: Member, event: RequestReceived, request: JoinGroupRequest, now: Millis
) -> Outcome:
    """Let a member wait for the next generation, with whatever has changed about it."""
    # What waits for it already was sent on a connection that it has given up.
    outcome = group.refuse_join(member, ErrorCode.REBALANCE_IN_PROGRESS)
    group.members.change_protocols(member, request.protocols)
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = rebalance_timeout_of(request)
    group.members.park_join(member, Parked(token=event.token, api_version=event.api_version))
    return outcome + membership_changed(group, now)
