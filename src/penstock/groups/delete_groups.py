"""DeleteGroups (key 42): groups without members go, with their offsets, committed or waiting."""

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, Outcome, answer
from penstock.groups.offset_record import offset_tombstone
from penstock.groups.shard_state import ShardState
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def delete_groups(state: ShardState, event: RequestReceived, request: DeleteGroupsRequest) -> Outcome:
    """Decide on a DeleteGroups request, for each group by itself."""
    outcome = NOTHING
    codes: dict[str, ErrorCode] = {}
    for group_id in dict.fromkeys(request.groups_names):
        codes[group_id] = _refusal(state, group_id)
        if codes[group_id] is ErrorCode.NONE:
            outcome += _tombstones(state, group_id)
    results = [
        DeletableGroupResult(group_id=group_id, error_code=codes[group_id])
        for group_id in request.groups_names
    ]
    return outcome + answer(event.token, DeleteGroupsResponse(results=tuple(results)))


def _refusal(state: ShardState, group_id: str) -> ErrorCode:
    group = state.groups.get(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    try:
        group.check_deletable()
    except ApiError as error:
        return error.code
    return ErrorCode.NONE


def _tombstones(state: ShardState, group_id: str) -> Outcome:
    partitions = state.offsets.partitions_of(group_id)
    offsets = tuple(offset_tombstone(group_id, partition) for partition in partitions)
    return Outcome(records=offsets + state.groups[group_id].tombstones())
