"""Groups: the list of them, and one of them shown and deleted."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.groups.description import GroupDescription, describe_groups
from penstock.wire_client.groups.listing import list_groups
from penstock.wire_client.groups.offsets import progress_of, total_lag

GROUP_NAME_MAX = 1_000

GroupName = Annotated[
    str,
    Path(
        alias="group",
        min_length=1,
        max_length=GROUP_NAME_MAX,
        description="The group's name.",
        examples=["billing"],
    ),
]


class ListedGroup(BaseModel):
    """One line of the list; lag is null for a group that has committed nothing."""

    group: str
    type: str
    state: str
    members: int | None
    lag: int | None
    coordinator: int


class ShownProgress(BaseModel):
    """How far a group is in one partition; what is not known, or not there, is null."""

    topic: str
    partition: int
    committed_offset: int | None
    end_offset: int | None
    lag: int | None
    member_id: str | None
    client_id: str | None
    host: str | None


class ShownMember(BaseModel):
    """A member: who it is, what it wants and what it has."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    epoch: int | None
    subscription: list[str]
    subscription_regex: str | None
    assignment: dict[str, list[int]]
    target_assignment: dict[str, list[int]] | None


class ShownGroup(BaseModel):
    """A group, its members and how far it is."""

    group: str
    type: str
    state: str
    protocol: str
    epoch: int | None
    coordinator: int
    lag: int | None
    members: list[ShownMember]
    offsets: list[ShownProgress]


def group_router(gateway: Gateway) -> APIRouter:
    """The routes about groups as a whole."""
    routes = APIRouter()

    @routes.get("/groups")
    def list_all_groups(
        state: Annotated[list[str] | None, Query(description="Only groups in one of these states.")] = None,
        type: Annotated[list[str] | None, Query(description="Only `classic` or `consumer` ones.")] = None,
    ) -> list[ListedGroup]:
        """All groups, by name, with their lag."""
        states = {each.lower() for each in state or ()}
        types = {each.lower() for each in type or ()}
        with gateway.kafka.cluster() as cluster:
            found = list_groups(cluster, states=states, types=types)
        return [ListedGroup(**each.as_json()) for each in found]

    @routes.get("/groups/{group:name}")
    def show_group(group: GroupName) -> ShownGroup:
        """A group: its members, what they have, and its lag in every partition."""
        with gateway.kafka.cluster() as cluster:
            found = find_group(cluster, group)
            progress = progress_of(cluster, [found])[group]
        return ShownGroup(
            **_fields(found),
            lag=total_lag(progress),
            offsets=[ShownProgress(**each.as_json()) for each in progress],
        )

    @routes.delete("/groups/{group:name}", status_code=204)
    def delete_group(group: GroupName) -> None:
        """Delete a group without members, and what it has committed."""
        gateway.kafka.admin.delete_groups(group)

    return routes


def find_group(cluster: Cluster, group: str) -> GroupDescription:
    """A group; 404 if there is none of that name."""
    found = describe_groups(cluster, [group]).get(group)
    if found is None:
        raise GatewayError(404, f"There is no group {group!r}.", error_code=40403, error="GROUP_ID_NOT_FOUND")
    return found


def _fields(found: GroupDescription) -> dict[str, Any]:
    return {
        "group": found.group,
        "type": found.type,
        "state": found.state,
        "protocol": found.protocol,
        "epoch": found.epoch,
        "coordinator": found.coordinator,
        "members": [ShownMember(**each.as_json()) for each in found.members],
    }
