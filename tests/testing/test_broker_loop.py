"""The loop under a broker of a test."""

import asyncio
import gc
import socket
from collections.abc import Iterator

import pytest

from penstock.testing.broker_loop import BrokerLoop
from penstock.testing.links import Links, Network
from penstock.testing.movable_clock import MovableClock


@pytest.fixture
def loop() -> Iterator[BrokerLoop]:
    made = BrokerLoop(MovableClock(), Links(Network(), 0))
    yield made
    made.bury(resets_connections=False)


async def _server_closed_between_accepting_and_serving(loop: BrokerLoop) -> bytes:
    server = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0)
    known = asyncio.all_tasks()
    with socket.create_connection(server.sockets[0].getsockname(), timeout=10) as client:
        while asyncio.all_tasks() == known:
            await asyncio.sleep(0)
        server.close()
        for _ in range(5):
            await asyncio.sleep(0)
        client.settimeout(10)
        return client.recv(1)


def test_connection_accepted_as_its_server_closes_is_closed(loop: BrokerLoop) -> None:
    assert loop.run_until_complete(_server_closed_between_accepting_and_serving(loop)) == b""
    gc.collect()  # what was left open would be told of here
