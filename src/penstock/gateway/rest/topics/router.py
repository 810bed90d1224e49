"""All routes about topics."""

from fastapi import APIRouter

from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.topics.configs import configs_router
from penstock.gateway.rest.topics.offsets import offsets_router
from penstock.gateway.rest.topics.partitions import partitions_router
from penstock.gateway.rest.topics.topics import topic_router


def topics_router(gateway: Gateway) -> APIRouter:
    """The routes about topics."""
    whole = APIRouter(tags=["topics"])
    for part in (topic_router, partitions_router, configs_router, offsets_router):
        whole.include_router(part(gateway))
    return whole
