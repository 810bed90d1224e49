"""All routes about groups."""

from fastapi import APIRouter

from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.groups.groups import group_router
from penstock.gateway.rest.groups.offsets import group_offsets_router


def groups_router(gateway: Gateway) -> APIRouter:
    """The routes about groups."""
    whole = APIRouter(tags=["groups"])
    whole.include_router(group_router(gateway))
    whole.include_router(group_offsets_router(gateway))
    return whole
