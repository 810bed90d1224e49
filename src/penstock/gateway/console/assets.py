"""The console's files, held in memory: what is not among them cannot be asked for, wherever a path points.

Pages are made in the browser, so every address below ``/console`` is answered with the same HTML, which makes
links into the console work when they are pasted. Browsers keep the files but ask each time whether they are
still right, so that a new version is seen at once.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from penstock.gateway.errors import GatewayError

STATIC = Path(__file__).with_name("static")
INDEX = "index.html"

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file."""

    body: bytes
    media_type: str
    etag: str


@cache
def assets() -> dict[str, Asset]:
    """Every file by its path below ``static``, with slashes."""
    return {
        path.relative_to(STATIC).as_posix(): _read(path)
        for path in sorted(STATIC.rglob("*"))
        if path.suffix in _TYPES
    }


def assets_router() -> APIRouter:
    """The routes of files and pages; that of pages takes what no other has taken."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/console/static/{path:path}")
    async def file(path: str, request: Request) -> Response:
        return _answer(path, request)

    @routes.get("/console")
    @routes.get("/console/{path:path}")
    async def page(request: Request, path: str = "") -> Response:
        if path.split("/", 1)[0] in ("api", "static"):
            raise GatewayError(404, f"The console has no {request.url.path!r}.")
        return _answer(INDEX, request)

    return routes


def _answer(path: str, request: Request) -> Response:
    found = assets().get(path)
    if found is None:
        raise GatewayError(404, f"The console has no file {path!r}.")
    headers = {"ETag": found.etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.media_type, headers=headers)


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    digest = hashlib.sha256(body).hexdigest()[:32]
    return Asset(body=body, media_type=_TYPES[path.suffix], etag=f'"{digest}"')
