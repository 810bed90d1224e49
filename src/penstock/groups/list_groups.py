"""ListGroups (key 16): the groups of a shard, of every kind. Filters do not care about case."""

from collections.abc import Iterable

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.group import Group
from penstock.groups.shard_state import ShardState
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


def list_groups(state: ShardState, event: RequestReceived, request: ListGroupsRequest) -> Outcome:
    """Answer a ListGroups request, in the order of the groups' ids."""
    states, kinds = _lower(request.states_filter), _lower(request.types_filter)
    groups = tuple(
        _listed(group)
        for _, group in sorted(state.groups.items())
        if (not states or group.state_name.lower() in states) and (not kinds or group.kind in kinds)
    )
    return answer(event.token, ListGroupsResponse(groups=groups))


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _listed(group: Group) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state_name,
        group_type=group.kind,
    )
