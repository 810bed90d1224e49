"""All routes of the registry, at the root, where its clients expect them."""

from fastapi import APIRouter

from penstock.gateway.gateway import Gateway
from penstock.gateway.registry.api.compatibility import compatibility_routes
from penstock.gateway.registry.api.contexts import context_routes, identity_routes
from penstock.gateway.registry.api.schemas import guid_routes, id_routes, schema_routes
from penstock.gateway.registry.api.settings import config_routes, mode_routes
from penstock.gateway.registry.api.subjects import subject_changes, subject_routes, version_routes
from penstock.gateway.registry.api.transfer import transfer_routes


def router(gateway: Gateway) -> APIRouter:
    """The routes of the registry on one gateway."""
    whole = APIRouter()
    registry = gateway.registry
    for part in (
        version_routes,
        subject_routes,
        subject_changes,
        schema_routes,
        id_routes,
        guid_routes,
        compatibility_routes,
        config_routes,
        mode_routes,
        context_routes,
        transfer_routes,
    ):
        whole.include_router(part(registry))
    whole.include_router(identity_routes(gateway))
    return whole
