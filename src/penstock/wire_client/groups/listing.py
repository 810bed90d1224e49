"""Which groups there are, with what can be told of thousands of them in a few requests."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.groups.description import (
    CLASSIC,
    CONSUMER,
    GroupDescription,
    describe_classic_groups,
    describe_consumer_groups,
)
from penstock.wire_client.groups.offsets import Progress, committed_offsets, end_offsets, total_lag


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    """One line of the list; ``lag`` is None for a group that has committed nothing."""

    group: str
    type: str
    state: str
    members: int | None
    lag: int | None
    coordinator: int

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return asdict(self)


def listed_groups(cluster: Cluster) -> dict[str, tuple[ListedGroup, int]]:
    """Every group of the cluster, sorted by name, with the broker that looks after it."""
    return groups_in(
        cluster.ask_every_broker(ApiKey.LIST_GROUPS, ListGroupsRequest(), doing="list the groups")
    )


def groups_in(answers: Mapping[int, Any]) -> dict[str, tuple[ListedGroup, int]]:
    """The groups that brokers told of, sorted by name, with the broker that looks after each."""
    found = {
        group.group_id: (group, node_id) for node_id, answer in answers.items() for group in answer.groups
    }
    return dict(sorted(found.items()))


def list_groups(cluster: Cluster, *, states: set[str], types: set[str]) -> list[GroupListing]:
    """The groups in one of ``states`` and of one of ``types``, both in small letters; empty sets let all in.

    Brokers could filter, but each version differently; a list of names is short, and what costs is asked
    only about those that are left.
    """
    return listings(
        cluster,
        {
            name: (group, node_id)
            for name, (group, node_id) in listed_groups(cluster).items()
            if (not types or type_of(group) in types) and (not states or group.group_state.lower() in states)
        },
    )


def listings(cluster: Cluster, listed: Mapping[str, tuple[ListedGroup, int]]) -> list[GroupListing]:
    """More about groups that brokers told of: how many members they have, and how far they are behind."""
    described = _described(cluster, {name: type_of(group) for name, (group, _) in listed.items()})
    lags = _lags(cluster, list(listed))
    return [
        GroupListing(
            group=name,
            type=type_of(group),
            state=group.group_state,
            members=len(described[name].members) if name in described else None,
            lag=lags[name],
            coordinator=node_id,
        )
        for name, (group, node_id) in listed.items()
    ]


def type_of(group: ListedGroup) -> str:
    """In small letters; brokers that do not tell have classic groups only."""
    return group.group_type.lower() or CLASSIC


def _described(cluster: Cluster, types: Mapping[str, str]) -> dict[str, GroupDescription]:
    """The groups of the two types that can be described here; one that went away meanwhile is missing."""
    classic = [name for name, kind in types.items() if kind == CLASSIC]
    consumer = [name for name, kind in types.items() if kind == CONSUMER]
    return describe_classic_groups(cluster, classic) | describe_consumer_groups(cluster, consumer)


def _lags(cluster: Cluster, groups: list[str]) -> dict[str, int | None]:
    committed = committed_offsets(cluster, groups)
    ends = end_offsets(cluster, {partition for offsets in committed.values() for partition in offsets})
    return {
        group: total_lag(
            Progress(partition=partition, committed=offset, end=ends[partition], member=None)
            for partition, offset in offsets.items()
        )
        for group, offsets in committed.items()
    }
