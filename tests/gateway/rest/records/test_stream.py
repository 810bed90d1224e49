"""Records as server-sent events."""

import json
import time
from typing import Any

import pytest
from tests.broker_process import wait_until
from tests.conftest import MakeServer, UniqueName
from tests.gateway.conftest import MakeGateway
from tests.gateway.raw_http import connect
from tests.gateway.rest_client import Event, RestClient

from penstock.gateway.rest.records import record_stream
from penstock.gateway.security import guard
from penstock.gateway.server import GatewayServer


def values(events: list[Event]) -> list[Any]:
    return [json.loads(each["data"])["value"] for each in events]


def take(events: Any, count: int) -> list[Event]:
    """The next records."""
    found: list[Event] = []
    while len(found) < count:
        event = next(events)
        if event.get("event") == "record":
            found.append(event)
    return found


def test_new_records_come_as_events(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique(), 2)
    rest.produce(topic, {"value": "old"})

    with rest.events(f"/topics/{topic}/stream") as events:
        assert next(events)["retry"] == "2000"
        rest.produce(topic, {"key": "k", "value": {"n": 1}, "partition": 1})
        (event,) = take(events, 1)

    record = json.loads(event["data"])
    assert (record["partition"], record["key"], record["value"]) == (1, "k", {"n": 1})


def test_last_event_id_resumes_exactly(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique(), 3)
    rest.produce(topic, *({"value": number, "partition": number % 3} for number in range(90)))
    seen: list[Any] = []
    cursor = ""

    for _ in range(6):
        with rest.events(f"/topics/{topic}/stream", last_event_id=cursor, begin_at="earliest") as events:
            found = take(events, 15)
        seen += values(found)
        cursor = found[-1]["id"]

    assert sorted(seen) == list(range(90))


def test_only_records_that_are_wanted_come(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    rest.produce(topic, *({"value": {"total": number}} for number in range(20)))

    with rest.events(f"/topics/{topic}/stream", begin_at="earliest", filter="$.total > 16") as events:
        found = take(events, 3)

    assert [value["total"] for value in values(found)] == [17, 18, 19]
    assert found[0]["id"] == "0:18,*"


def test_heartbeat_tells_how_far_it_is(
    rest: RestClient, unique: UniqueName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_stream, "HEARTBEAT_SECONDS", 0.1)
    topic = rest.new_topic(unique())
    rest.produce(topic, {"value": "unwanted"})

    with rest.events(f"/topics/{topic}/stream", begin_at="earliest", filter="absent") as events:
        beat = next(event for event in events if "" in event)

    assert (beat[""], beat["id"]) == ("still here", "0:1,*")


def test_stream_is_freed_when_its_reader_has_gone(
    make_gateway: MakeGateway, bootstrap: str, rest: RestClient, unique: UniqueName
) -> None:
    topic = rest.new_topic(unique())
    server = make_gateway(bootstrap, streams_max=1)
    other = RestClient(server.url)
    with connect(server.url) as reader:
        reader.sendall(f"GET /topics/{topic}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert reader.recv(4096).startswith(b"HTTP/1.1 200")
        assert server.gateway.streams.count == 1
        status, told = other.refusal("GET", f"/topics/{topic}/stream")
        assert (status, "1 open streams" in told["message"]) == (503, True)
        began = time.monotonic()
    wait_until(lambda: server.gateway.streams.count == 0, what="the stream freed", seconds=5)
    other.close()

    assert time.monotonic() - began < 2


def test_reader_that_takes_nothing_is_hung_up_on(
    make_gateway: MakeGateway,
    bootstrap: str,
    rest: RestClient,
    unique: UniqueName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "SEND_SECONDS_MAX", 0.3)
    topic = rest.new_topic(unique())
    for _ in range(2):
        rest.produce(topic, *({"value": "x" * 500_000} for _ in range(7)))
    server = make_gateway(bootstrap)
    with connect(server.url) as reader:
        request = f"GET /topics/{topic}/stream?from=earliest HTTP/1.1\r\nHost: localhost\r\n\r\n"
        reader.sendall(request.encode())
        wait_until(lambda: server.gateway.streams.count == 1, what="the stream")
        wait_until(lambda: server.gateway.streams.count == 0, what="the stream freed", seconds=10)


def test_stream_ends_when_the_gateway_stops(
    bootstrap: str, make_gateway: MakeGateway, rest: RestClient, unique: UniqueName
) -> None:
    topic = rest.new_topic(unique())
    server = make_gateway(bootstrap)
    client = RestClient(server.url)
    with client.events(f"/topics/{topic}/stream") as events:
        next(events)
        began = time.monotonic()
        server.stop()
        assert list(events) == []
    client.close()

    assert time.monotonic() - began < 3


def test_stream_outlives_its_broker(
    make_server: MakeServer, make_gateway: MakeGateway, unique: UniqueName
) -> None:
    broker = make_server(is_alone=True)
    client = RestClient(make_gateway(broker.bootstrap).url)
    topic = client.new_topic(unique())
    with client.events(f"/topics/{topic}/stream", begin_at="earliest") as events:
        client.produce(topic, {"value": "before"})
        assert values(take(events, 1)) == ["before"]
        broker.kill()
        assert next(events)["event"] == "trouble"
        broker.restart()
        client.produce(topic, {"value": "after"})
        assert values(take(events, 1)) == ["after"]
    client.close()


def test_deleted_topic_ends_the_stream_with_an_error(rest: RestClient, unique: UniqueName) -> None:
    topic = rest.new_topic(unique())
    with rest.events(f"/topics/{topic}/stream") as events:
        next(events)
        rest.ask("DELETE", f"/topics/{topic}")
        last = list(events)[-1]

    assert last["event"] == "error"
    assert json.loads(last["data"])["error"] == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(
    ("query", "status", "complaint"),
    [
        ({"filter": "(key"}, 422, "filter"),
        ({"cursor": "nonsense"}, 422, "cursor="),
        ({"partition": 9}, 404, "no partition 9"),
    ],
)
def test_what_cannot_be_streamed_is_refused_with_a_status(
    rest: RestClient, gateway: GatewayServer, unique: UniqueName, query: Any, status: int, complaint: str
) -> None:
    topic = rest.new_topic(unique())

    found, told = rest.refusal("GET", f"/topics/{topic}/stream", **query)

    assert found == status
    assert complaint in told["message"]
    assert gateway.gateway.streams.count == 0
