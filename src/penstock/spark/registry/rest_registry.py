"""A registry behind its REST API. What never changes is asked once: schemas by id, GUID or version."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from urllib.parse import quote

from penstock.spark.registry.address import Registry
from penstock.spark.registry.errors import SchemaNotFoundError
from penstock.spark.registry.http_requests import ask
from penstock.spark.registry.registered import RegisteredSchema, from_answer, to_request

SCHEMAS_KEPT_MAX = 1000
ABSENCE_KEPT_SECONDS = 10.0
"""A schema is registered before it is used, so an unknown id stays unknown; but a follower may lag."""

Kept = TypeVar("Kept")


class RestRegistry:
    """What a registry's server knows, with a memory."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._kept: OrderedDict[str, RegisteredSchema] = OrderedDict()
        self._absent: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def __str__(self) -> str:
        return ", ".join(self._registry.servers())

    def by_id(self, schema_id: int) -> RegisteredSchema:
        """The schema of an id."""
        return self._once(f"/schemas/ids/{schema_id}", lambda answer: from_answer(answer, schema_id))

    def by_guid(self, guid: str) -> RegisteredSchema:
        """The schema of a GUID."""
        return self._once(f"/schemas/guids/{guid}", from_answer)

    def version(self, subject: str, version: int) -> RegisteredSchema:
        """One version of a subject."""
        return self._once(f"/subjects/{quote(subject, safe='')}/versions/{version}", from_answer)

    def latest(self, subject: str | None) -> RegisteredSchema:
        """The newest version of a subject now; never from memory."""
        if subject is None:
            raise SchemaNotFoundError(
                f"Registry {self}: which schema? Give subject='orders-value', topic='orders' or schema=..."
            )
        return from_answer(ask(self._registry, f"/subjects/{quote(subject, safe='')}/versions/latest"))

    def look_up(self, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """The same schema with the id that it has under a subject."""
        answer = ask(self._registry, f"/subjects/{quote(subject, safe='')}", to_request(schema))
        return replace(schema, schema_id=answer["id"], subject=subject)

    def register(self, subject: str, schema: RegisteredSchema) -> RegisteredSchema:
        """Make a schema the newest version of a subject, unless it is one of its versions; with its id."""
        answer = ask(self._registry, f"/subjects/{quote(subject, safe='')}/versions", to_request(schema))
        return replace(schema, schema_id=answer["id"], subject=subject)

    def _once(self, path: str, read: Callable[[dict[str, object]], RegisteredSchema]) -> RegisteredSchema:
        if path in self._kept:
            return self._kept[path]
        self._check_absent(path)
        try:
            schema = read(ask(self._registry, path))
        except SchemaNotFoundError as error:
            _keep(self._absent, path, (time.monotonic(), str(error)))
            raise
        _keep(self._kept, path, schema)
        return schema

    def _check_absent(self, path: str) -> None:
        asked_at, words = self._absent.get(path, (None, ""))
        if asked_at is not None and time.monotonic() - asked_at < ABSENCE_KEPT_SECONDS:
            raise SchemaNotFoundError(words)


def _keep(memory: OrderedDict[str, Kept], key: str, value: Kept) -> None:
    memory[key] = value
    if len(memory) > SCHEMAS_KEPT_MAX:
        memory.popitem(last=False)
