"""What all routes of the registry have in common: media types, versions in paths, pages of lists, aliases."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute

from penstock.gateway.registry.decisions.well_formed import NUMBER_MAX
from penstock.gateway.registry.errors import invalid_subject, invalid_version
from penstock.gateway.registry.registry import SchemaRegistry
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.values.subject_names import (
    context_of,
    is_context,
    is_valid,
    qualified,
    within,
)

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
LATEST = "latest"

Item = TypeVar("Item")

Offset = Annotated[int, Query(ge=0, description="How many to leave out at the beginning.")]
Limit = Annotated[int, Query(description="The most to return; a negative one means all.")]
Deleted = Annotated[bool, Query(description="Whether to show what is deleted softly, too.")]
Normalize = Annotated[bool, Query(description="Whether order and ways of writing do not matter.")]
Permanent = Annotated[bool, Query(description="For good, of what is deleted softly already.")]
Format = Annotated[
    str, Query(alias="format", description="`resolved` (Avro), `serialized` (Protobuf), or nothing.")
]


class RegistryRoute(APIRoute):
    """Answers in the registry's own media type to all who take it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the media type that was asked for."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            response = await handle(request)
            accepted = request.headers.get("accept", "*/*")
            if _is_json(response) and ("schemaregistry" in accepted or "*/*" in accepted):
                response.headers["content-type"] = MEDIA_TYPE
            return response

        return answer


def new_routes(tag: str) -> APIRouter:
    """Routes of one kind of thing."""
    return APIRouter(tags=[f"schema registry: {tag}"], route_class=RegistryRoute)


def page(items: Sequence[Item], offset: int, limit: int) -> list[Item]:
    """A part of a list."""
    return list(items[offset:] if limit < 0 else items[offset : offset + limit])


def version_number(text: str) -> int | None:
    """The version in a path; None for the latest. Refuses anything else (42202)."""
    if text in (LATEST, "-1"):
        return None
    if not text.isdecimal() or not text.isascii() or not 1 <= int(text) <= NUMBER_MAX:
        raise invalid_version(text)
    return int(text)


def subject_named(state: RegistryState, text: str) -> str:
    """The subject that a path means, under its own name or an alias."""
    subject = qualified(text)
    alias = state.configs.get(subject, {}).get("alias")
    return within(context_of(subject), str(alias)) if alias else subject


def writable_subject(registry: SchemaRegistry, text: str) -> str:
    """The subject that a path means, if one may be called like that (42208)."""
    subject = subject_named(registry.state, text)
    if not is_valid(subject) or is_context(subject):
        raise invalid_subject(text)
    return subject


def setting_scope(text: str | None) -> str | None:
    """Whose settings a path means: a subject's, a context's, or for the default context those of all."""
    if text is None or qualified(text) == "":
        return None
    if not is_valid(qualified(text)):
        raise invalid_subject(text)
    return qualified(text)


def _is_json(response: Response) -> bool:
    return response.headers.get("content-type", "").startswith("application/json")
