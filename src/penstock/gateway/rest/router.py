"""All routes of REST."""

from fastapi import APIRouter

from penstock.gateway.gateway import Gateway
from penstock.gateway.rest.cluster import cluster_router
from penstock.gateway.rest.groups.router import groups_router
from penstock.gateway.rest.health import health_router
from penstock.gateway.rest.parameters import ErrorBody
from penstock.gateway.rest.records.produce import produce_router
from penstock.gateway.rest.records.read import read_router
from penstock.gateway.rest.records.stream import stream_router
from penstock.gateway.rest.topics.router import topics_router

_PARTS = (
    health_router,
    cluster_router,
    topics_router,
    groups_router,
    produce_router,
    read_router,
    stream_router,
)


def router(gateway: Gateway) -> APIRouter:
    """The routes of REST on one gateway."""
    whole = APIRouter(responses={"4XX": {"model": ErrorBody}, "5XX": {"model": ErrorBody}})
    for part in _PARTS:
        whole.include_router(part(gateway))
    return whole
