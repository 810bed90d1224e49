"""``/names``: what the search offers, so many of each kind."""

from typing import Any

from fastapi import APIRouter

from penstock.gateway.console.console import Console
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire_client.groups.listing import groups_in

NAMES_MAX = 5_000


def router(console: Console) -> APIRouter:
    """The route of names."""
    routes = APIRouter()

    @routes.get("/names")
    def names() -> dict[str, Any]:
        """The names of topics and groups."""
        with console.kafka.cluster() as cluster:
            topics = sorted(topic.name or "" for topic in cluster.metadata(None).topics)
            told = cluster.ask_live_brokers(ApiKey.LIST_GROUPS, ListGroupsRequest(), doing="list the groups")
        return {"topics": topics[:NAMES_MAX], "groups": list(groups_in(told.answers))[:NAMES_MAX]}

    return routes
