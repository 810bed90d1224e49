"""``/contexts`` and what tells one registry from another."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from penstock import __version__
from penstock.gateway.gateway import Gateway
from penstock.gateway.registry.api.routes import Limit, Offset, new_routes, page
from penstock.gateway.registry.decisions.deleting import decide_delete_context
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.topic.writing import TRANSACTIONAL_ID
from penstock.gateway.registry.values.subject_names import context_of, qualified


def context_routes(registry: SchemaRegistry) -> APIRouter:
    """Listing contexts, and deleting empty ones."""
    routes = new_routes("contexts")

    @routes.get("/contexts")
    def list_contexts(
        prefix: Annotated[str, Query(alias="contextPrefix")] = "", offset: Offset = 0, limit: Limit = -1
    ) -> list[str]:
        """Names of contexts, the default one first."""
        found = [context for context in registry.state.contexts if context.startswith(prefix)]
        return page(found, offset, limit)

    @routes.delete("/contexts/{context:name}", status_code=204)
    def delete_context(context: str) -> Response:
        """Forget a context in which nothing is left."""
        is_bare = context.startswith(".")
        name = context if is_bare else context_of(qualified(context))
        registry.change(decide_delete_context(name))
        return Response(status_code=204)

    return routes


def identity_routes(gateway: Gateway) -> APIRouter:
    """Which cluster's schemas these are, and who tells them."""
    routes = new_routes("metadata")

    @routes.get("/v1/metadata/id")
    @routes.get("/clusterid", include_in_schema=False)
    def get_id() -> dict[str, Any]:
        """The ids of the Kafka cluster and of the registry."""
        with gateway.kafka.cluster() as cluster:
            cluster_id = cluster.metadata(()).cluster_id
        clusters = {"kafka-cluster": cluster_id, "schema-registry-cluster": TRANSACTIONAL_ID}
        return {"id": "", "scope": {"path": [], "clusters": clusters}}

    @routes.get("/v1/metadata/version")
    def get_version() -> dict[str, str]:
        """The version of this program."""
        return {"version": __version__, "commitId": ""}

    return routes
