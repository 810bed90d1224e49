"""Which group a ConsumerGroupHeartbeat is for: one that is there, a new one, or one that has to become one.

Whoever joins may make a group, and may make a classic group a consumer group. Whoever speaks of an epoch it
had, or leaves, may not: if there is no such group it is no member.
"""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome
from penstock.groups.classic_group import ClassicGroup
from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer.draft import Draft
from penstock.groups.consumer.heartbeat import check_request, heartbeat
from penstock.groups.consumer.ledger import Ledger
from penstock.groups.consumer.migration import replace_classic, upgraded
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.wire.messages.consumer_group_heartbeat import JOIN_EPOCH, ConsumerGroupHeartbeatRequest


def serve_heartbeat(
    state: ShardState, event: RequestReceived, request: ConsumerGroupHeartbeatRequest, now: Millis
) -> Outcome:
    """Decide on a ConsumerGroupHeartbeat request."""
    context = state.context
    check_request(request, event.api_version, context.settings)
    group = state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        return group.serve(event, now)
    if request.member_epoch != JOIN_EPOCH:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"There is no consumer group {request.group_id}.")
    if group is None:
        draft = Draft(Ledger(request.group_id))
        return heartbeat(draft, event, request, context, now, is_stale=True)
    if not isinstance(group, ClassicGroup):
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} is of another kind.")
    draft = Draft(Ledger(request.group_id)) if group.is_empty else upgraded(group, context, now)
    joined = heartbeat(draft, event, request, context, now, is_stale=True)
    return replace_classic(group, draft, context, now) + joined
