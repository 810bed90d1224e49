"""The parts as one web application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import FastAPI
from fastapi.responses import RedirectResponse

from penstock import __version__
from penstock.gateway.console.router import router as console_router
from penstock.gateway.errors import install_error_handlers
from penstock.gateway.gateway import Gateway
from penstock.gateway.path_names import register_path_names
from penstock.gateway.registry.router import router as registry_router
from penstock.gateway.rest.router import router as rest_router
from penstock.gateway.security.login.router import login_router

HOME = "/console/"


def build_app(gateway: Gateway) -> FastAPI:
    """The application of one gateway."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = gateway.settings.requests_max
        await anyio.to_thread.run_sync(gateway.start)
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(gateway.stop)

    app = FastAPI(
        title="Penstock gateway",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    install_error_handlers(app)
    register_path_names()
    app.get("/", include_in_schema=False)(_home)
    for part in (login_router, rest_router, registry_router, console_router):
        app.include_router(part(gateway))
    return app


def _home() -> RedirectResponse:
    return RedirectResponse(HOME)
