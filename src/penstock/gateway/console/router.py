"""All routes of the console: its files, its pages, and the JSON of every module of ``data``.

A module of ``data`` that has a function ``router(console: Console) -> APIRouter`` is found by itself; its
paths begin after ``/console/api``.
"""

import pkgutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module

import anyio.to_thread
from fastapi import APIRouter

from penstock.gateway.console import data
from penstock.gateway.console.assets import assets_router
from penstock.gateway.console.console import Console
from penstock.gateway.console.sampling.sampler import Sampler
from penstock.gateway.gateway import Gateway

API = "/console/api"

MakeRouter = Callable[[Console], APIRouter]


def router(gateway: Gateway) -> APIRouter:
    """The routes of the console on one gateway."""
    console = Console(gateway=gateway, sampler=Sampler(gateway.kafka, closing=gateway.closing))

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        console.sampler.start()
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(console.sampler.stop)

    whole = APIRouter(lifespan=lifespan)
    for make in _data_routers():
        whole.include_router(make(console), prefix=API, tags=["console"])
    whole.include_router(assets_router())
    return whole


def _data_routers() -> Iterator[MakeRouter]:
    for module in pkgutil.iter_modules(data.__path__, f"{data.__name__}."):
        if (make := getattr(import_module(module.name), "router", None)) is not None:
            yield make
