"""``/health``: whether the gateway lives, and nothing about the cluster, since nobody proves who asks."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from penstock.gateway.gateway import Gateway


class Health(BaseModel):
    """How the gateway is."""

    status: Literal["up", "stopping"]


def health_router(gateway: Gateway) -> APIRouter:
    """The route of health."""
    routes = APIRouter(tags=["health"])

    @routes.get("/health")
    def health() -> Health:
        """Whether the gateway answers; needs no token."""
        return Health(status="stopping" if gateway.closing.is_set() else "up")

    return routes
