"""What dispatch tells a handler beside its request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.broker import dispatch
from penstock.broker.broker import Broker
from penstock.broker.clock import SystemClock
from penstock.broker.dispatch import Dispatch
from penstock.broker.server import Server
from penstock.broker.tasks import Tasks
from penstock.config.sources import load_broker_config
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import RequestHeader, encode_request
from penstock.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.envelope import EnvelopeRequest
from penstock.wire.messages.fetch import FetchRequest
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.messages.raft_vote import RaftVoteRequest
from penstock.wire.schema import Struct


@asynccontextmanager
async def connected(
    *, is_ready: bool = True
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client of a server that dispatches; of the broker there is only what runs its tasks."""
    broker = cast(Broker, SimpleNamespace(tasks=Tasks(asyncio.get_running_loop()), is_ready=is_ready))
    server = Server(load_broker_config(flags={}), Dispatch(broker), SystemClock())
    port = await server.bind("127.0.0.1", 0)
    await server.accept()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.stop(0.0)
        await broker.tasks.stop()


def test_awaited_handler_learns_who_asks_and_when_the_connection_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers: list[RequestHeader] = []

    async def main() -> None:
        lost = asyncio.Event()

        async def handle(broker: Broker, request: Any, header: RequestHeader) -> ApiVersionsResponse:
            headers.append(header)
            header.when_connection_is_lost(lost.set)
            return ApiVersionsResponse()

        monkeypatch.setattr(dispatch, "awaited_handler", lambda key: handle)
        async with connected() as (reader, writer):
            writer.write(encode_request(ApiKey.API_VERSIONS, 0, 5, ApiVersionsRequest(), client_id="c"))
            await reader.readexactly(4)
            assert not lost.is_set()
            writer.close()
            async with asyncio.timeout(10):
                await lost.wait()

    asyncio.run(main())
    (header,) = headers
    assert header.client_host == "/127.0.0.1"
    assert header.client_id == "c"


def test_header_without_a_connection_takes_a_callback_and_forgets_it() -> None:
    RequestHeader(ApiKey.API_VERSIONS, 0, 1, None, 0).when_connection_is_lost(pytest.fail)


@pytest.mark.parametrize(
    ("key", "request_", "is_answered"),
    [
        (ApiKey.API_VERSIONS, ApiVersionsRequest(), True),
        (ApiKey.BROKER_HEARTBEAT, BrokerHeartbeatRequest(), True),
        (ApiKey.ENVELOPE, EnvelopeRequest(), True),
        (ApiKey.RAFT_VOTE, RaftVoteRequest(), True),
        (ApiKey.METADATA, MetadataRequest(), False),
        (ApiKey.FETCH, FetchRequest(), False),
        (ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest(), False),
    ],
)
def test_starting_broker_serves_its_peers_alone(
    monkeypatch: pytest.MonkeyPatch, key: ApiKey, request_: Struct, is_answered: bool
) -> None:
    async def main() -> None:
        async def handle(broker: Broker, request: Any, header: RequestHeader) -> Struct:
            return APIS[ApiKey(header.api_key)].response()

        monkeypatch.setattr(dispatch, "awaited_handler", lambda key: handle)
        monkeypatch.setattr(dispatch, "DIRECT", {ApiKey.FETCH: None})
        async with connected(is_ready=False) as (reader, writer):
            version = APIS[key].max_version
            writer.write(encode_request(key, version, 5, request_, client_id="c"))
            async with asyncio.timeout(10):
                assert (await reader.read(4) != b"") is is_answered

    asyncio.run(main())
