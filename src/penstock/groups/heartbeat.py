"""Heartbeat (key 12): a member is still there, and learns whether to join again.

In the sync phase all is well: members begin to send heartbeats as soon as their JoinGroup is answered.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.group_state import GroupState
from penstock.groups.live_group import LiveGroup
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def heartbeat(group: LiveGroup, event: RequestReceived, request: HeartbeatRequest, now: Millis) -> Outcome:
    """Decide on a Heartbeat request."""
    member = group.check_member(request.member_id, request.group_instance_id)
    group.check_generation(request.generation_id)
    group.hear_of(member, now)
    is_joining = group.state is GroupState.PREPARING_REBALANCE
    code = ErrorCode.REBALANCE_IN_PROGRESS if is_joining else ErrorCode.NONE
    return answer(event.token, HeartbeatResponse(error_code=code))
