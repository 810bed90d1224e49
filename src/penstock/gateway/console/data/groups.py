"""``/groups``: who reads, how far they are behind, and moving them."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from penstock.gateway.console.console import Console
from penstock.gateway.console.data.asking import Asking
from penstock.gateway.console.data.confirmed import Confirmed, check_confirmed
from penstock.gateway.console.data.group_reset import reset_group
from penstock.gateway.errors import GatewayError
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire_client.groups.description import GroupDescription, describe_groups
from penstock.wire_client.groups.listing import groups_in, listings, type_of
from penstock.wire_client.groups.offsets import Progress, progress_of, total_lag
from penstock.wire_client.groups.reset_target import Reference, Target


class ResetBody(BaseModel):
    """Where to move a group to; ``number`` is an offset, a shift, or a timestamp in milliseconds."""

    to: Reference
    number: int = 0
    topics: list[str] = Field(
        default_factory=list, description="Those to move it in; all it has read if empty."
    )
    dry_run: bool = True


def router(console: Console) -> APIRouter:
    """The routes of groups."""
    routes = APIRouter()

    @routes.get("/groups")
    def groups() -> dict[str, Any]:
        """All groups with their lag."""
        asking = Asking()
        with console.kafka.cluster() as cluster:
            told = cluster.ask_live_brokers(ApiKey.LIST_GROUPS, ListGroupsRequest(), doing="list the groups")
            listed = groups_in(told.answers)
            more = asking.told(lambda: listings(cluster, listed))
        lines = [each.as_json() for each in more or ()] or [
            _bare_line(name, type_of(group), group.group_state) for name, (group, _) in listed.items()
        ]
        return {"groups": lines, "notes": [*told.notes, *asking.notes]}

    @routes.get("/groups/{group:name}")
    def group(group: str) -> dict[str, Any]:
        """One group: its members, and how far it is in every partition."""
        with console.kafka.cluster() as cluster:
            described = describe_groups(cluster, [group]).get(group)
            if described is None:
                raise GatewayError(
                    404, f"There is no group {group!r}.", error_code=40404, error="GROUP_ID_NOT_FOUND"
                )
            progress = progress_of(cluster, [described])[group]
        return _described(described, progress) | {"lag_over_time": console.sampler.lag(group)}

    @routes.post("/groups/{group:name}/reset")
    def reset(group: str, body: ResetBody) -> dict[str, Any]:
        """Move a group without members, or only tell what that would do."""
        target = Target(body.to, body.number)
        with console.kafka.cluster() as cluster:
            return reset_group(cluster, group, target=target, topics=body.topics, is_dry_run=body.dry_run)

    @routes.delete("/groups/{group:name}")
    def delete(group: str, body: Confirmed) -> dict[str, Any]:
        """Delete a group without members, and what it has committed."""
        check_confirmed(body, group, doing=f"delete group {group!r}")
        console.kafka.admin.delete_groups(group)
        return {"group": group}

    return routes


def _bare_line(group: str, kind: str, state: str) -> dict[str, Any]:
    return {"group": group, "type": kind, "state": state, "members": None, "lag": None, "coordinator": None}


def _described(group: GroupDescription, progress: list[Progress]) -> dict[str, Any]:
    return {
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol": group.protocol,
        "epoch": group.epoch,
        "coordinator": group.coordinator,
        "is_active": group.is_active,
        "members": [each.as_json() for each in group.members],
        "partitions": [each.as_json() for each in progress],
        "lag": total_lag(progress),
    }
