"""Registries for tests: a real gateway on a broker of their own, and somebody who asks it over HTTP."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import httpx2
import pytest

from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings
from penstock.testing import Broker

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


class Told(NamedTuple):
    """An answer: its status and its JSON."""

    status: int
    body: Any

    @property
    def code(self) -> int:
        """The registry's own code of an error."""
        return int(self.body["error_code"])


class Asker:
    """Asks one registry."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx2.Client(base_url=url, timeout=60)

    def __call__(self, method: str, path: str, body: Any = None) -> Told:
        content = None if body is None else json.dumps(body)
        answer = self.http.request(method, path, content=content, headers={"Content-Type": MEDIA_TYPE})
        return Told(answer.status_code, answer.json() if answer.content else None)

    def register(self, subject: str, schema: Any, **more: Any) -> Told:
        return self("POST", f"/subjects/{subject}/versions", {"schema": as_text(schema), **more})


def as_text(schema: Any) -> str:
    return schema if isinstance(schema, str) else json.dumps(schema)


def record(name: str, *fields: Any) -> dict[str, Any]:
    """A record of Avro; a field is its name, for a string, or the whole of it."""
    whole = [{"name": each, "type": "string"} if isinstance(each, str) else each for each in fields]
    return {"type": "record", "name": name, "fields": whole}


def optional(name: str) -> dict[str, Any]:
    return {"name": name, "type": "string", "default": ""}


@pytest.fixture(scope="session")
def registry_broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def registry(registry_broker: Broker) -> Iterator[GatewayServer]:
    """One for all tests of this worker; they keep apart by names of subjects and contexts."""
    settings = GatewaySettings(bootstrap_servers=registry_broker.bootstrap_servers, port=0)
    with GatewayServer(settings).start() as server:
        yield server


@pytest.fixture
def ask(registry: GatewayServer) -> Iterator[Asker]:
    asker = Asker(registry.url)
    with asker.http:
        yield asker


class MakeAsker(Protocol):
    """Starts a gateway on ``bootstrap`` and gives somebody who asks it."""

    def __call__(self, bootstrap: str) -> Asker: ...


@pytest.fixture
def make_asker() -> Iterator[MakeAsker]:
    servers: list[GatewayServer] = []
    askers: list[Asker] = []

    def make(bootstrap: str) -> Asker:
        servers.append(GatewayServer(GatewaySettings(bootstrap_servers=bootstrap, port=0)).start())
        askers.append(Asker(servers[-1].url))
        return askers[-1]

    try:
        yield make
    finally:
        for asker in askers:
            asker.http.close()
        for server in servers:
            server.stop()


@pytest.fixture
def ask_alone(make_asker: MakeAsker) -> Iterator[Asker]:
    """A registry of the test's own, empty, with settings that nobody else sees."""
    with Broker() as broker:
        yield make_asker(broker.bootstrap_servers)
