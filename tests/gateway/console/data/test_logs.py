"""Logs of a real broker, searched and followed through the console's API."""

import socket
import time
from contextlib import closing
from typing import Any

import pytest
from tests.conftest import MakeServer
from tests.gateway.conftest import MakeGateway
from tests.gateway.console.asking import events, get, refusal

from penstock.gateway.server import GatewayServer


@pytest.fixture
def logged(make_server: MakeServer, make_gateway: MakeGateway) -> GatewayServer:
    """A gateway before a broker of its own, which feeds the topic of logs."""
    server = make_server(environment={"PENSTOCK_SERVER_LOG_TOPIC_ENABLE": "true"}, is_alone=True)
    return make_gateway(server.bootstrap)


def found(gateway: GatewayServer, **query: Any) -> list[dict[str, Any]]:
    """What a search tells, once it tells anything: entries come about a second after their events."""
    deadline = time.monotonic() + 20
    while not (told := get(gateway.url, "logs", **query))["entries"]:
        assert time.monotonic() < deadline, told
        time.sleep(0.2)
    return list(told["entries"])


@pytest.mark.slow
def test_logs_are_found_by_text_level_component_and_field(logged: GatewayServer) -> None:
    (started,) = found(logged, text="STARTED", component="broker.broker", level="info")
    assert (started["event"], started["level"], started["node"]) == ("started", "info", 1)
    assert found(logged, field=f"address={started['fields']['address']}")[-1]["event"] == "started"
    assert get(logged.url, "logs", text="started", level="error")["entries"] == []
    newest_first = [entry["time_ms"] for entry in found(logged)]
    assert newest_first == sorted(newest_first, reverse=True)
    assert get(logged.url, "logs", limit=1)["is_cut"]


@pytest.mark.slow
def test_logs_are_followed_as_they_come(logged: GatewayServer) -> None:
    found(logged)
    host, port = logged.gateway.settings.bootstrap_servers.split(":")
    with closing(events(logged.url, "logs/follow", text="connection closed", component="connection")) as live:
        assert next(live) == ("entries", {"entries": []})
        with socket.create_connection((host, int(port)), timeout=10) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            stranger.recv(1)
        told = next(live).data["entries"]
    assert told[0]["event"] == "connection closed"
    assert told[0]["fields"]["reason"]


def test_a_cluster_without_the_topic_is_told_in_words(gateway: GatewayServer) -> None:
    told = get(gateway.url, "logs")
    assert told["entries"] == []
    assert "__penstock_logs" in told["absent"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"level": "loud"}, "Level"),
        ({"text": "(", "regex": "true"}, "RE2"),
        ({"field": "x"}, "NAME=VALUE"),
        ({"since": "then"}, "no time"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(
    gateway: GatewayServer, query: dict[str, Any], said: str
) -> None:
    status, told = refusal(gateway.url, "logs", **query)
    assert status == 422
    assert said in told["message"]
