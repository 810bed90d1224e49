"""Gateways for tests: each a real server on a port of its own, in front of the shared broker."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest
from tests.gateway.rest_client import RestClient

from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings


class MakeGateway(Protocol):
    """Starts a gateway of the test's own, gone after the test; ``settings`` are those of GatewaySettings."""

    def __call__(self, bootstrap: str, **settings: Any) -> GatewayServer: ...


@pytest.fixture(scope="session")
def gateway(bootstrap: str) -> Iterator[GatewayServer]:
    """One gateway for all tests of this worker; they keep apart by topic names. It has ``url``."""
    with GatewayServer(GatewaySettings(bootstrap_servers=bootstrap, port=0)).start() as server:
        yield server


@pytest.fixture
def make_gateway() -> Iterator[MakeGateway]:
    """A factory of gateways that belong to one test."""
    made: list[GatewayServer] = []

    def make(bootstrap: str, **settings: Any) -> GatewayServer:
        one = GatewayServer(GatewaySettings(bootstrap_servers=bootstrap, **({"port": 0} | settings)))
        made.append(one)
        return one.start()

    try:
        yield make
    finally:
        for one in made:
            one.stop()


@pytest.fixture
def rest(gateway: GatewayServer) -> Iterator[RestClient]:
    """A client of the shared gateway."""
    client = RestClient(gateway.url)
    try:
        yield client
    finally:
        client.close()
