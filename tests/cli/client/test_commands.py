"""``penstock client`` against a real broker to which a real client has pushed."""

import time

import pytest
from confluent_kafka import Producer
from tests.broker.metrics.scraping import address_of, scrape
from tests.broker_process import Server
from tests.cli.terminal import Terminal
from tests.conftest import MakeServer

from penstock.cli.client.pages import page_addresses, parse_page

pytestmark = pytest.mark.slow

WAIT_SECONDS_MAX = 20
WANTED = {"telemetry.default.metrics": "*", "telemetry.default.interval.ms": 200}


@pytest.fixture
def pushed(make_server: MakeServer) -> Server:
    server = make_server(WANTED, is_alone=True)
    producer = Producer({"bootstrap.servers": server.bootstrap, "client.id": "pusher"})
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not scrape(address_of(server.data_directory)).labels_of("penstock_client_info", client_id="pusher"):
        assert time.monotonic() < deadline
        producer.poll(0.1)
    return server


def test_clients_are_listed_and_described(
    pushed: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(pushed.bootstrap, capsys, monkeypatch)
    where = ("--metrics", address_of(pushed.data_directory))
    (listed,) = terminal.must("client", "list", *where, "--json").json()
    assert (listed["client_id"], listed["client_software_name"]) == ("pusher", "confluent-kafka-python")
    header, row = terminal.must("client", "list", *where).output.splitlines()
    assert (header.split()[0], row.split()[0]) == ("CLIENT", "pusher")
    for name in ("pusher", listed["client_instance_id"]):
        told = terminal.must("client", "describe", name, *where, "--json").json()
        assert len(told) == listed["metrics"] > 5
    assert (
        "penstock_client_producer_connection" in terminal.must("client", "describe", "pusher", *where).output
    )
    missing = terminal.run("client", "describe", "nobody", *where)
    assert missing.code == 1
    assert "penstock client list" in missing.errors


def test_nobody_and_no_page_are_said(terminal: Terminal, make_server: MakeServer, closed_port: int) -> None:
    server = make_server(is_alone=True)
    where = address_of(server.data_directory)
    assert "client-metrics NAME" in terminal.must("client", "list", "-m", where).output
    assert terminal.must("client", "list", "-m", where, "--json").json() == []
    failed = terminal.run("client", "list", "--metrics", f"127.0.0.1:{closed_port}")
    assert failed.code == 1
    assert f"127.0.0.1:{closed_port}" in failed.errors
    assert "metrics.address" in failed.errors


def test_pages_are_by_default_above_the_brokers() -> None:
    assert page_addresses([], "a:9092,b:9093") == ["a:19092", "b:19093"]
    assert page_addresses([], "[::1]:9092") == ["[::1]:19092"]
    assert page_addresses(["c:1"], "a:9092") == ["c:1"]


def test_labels_are_read_as_they_were_before_they_were_escaped() -> None:
    line = r'penstock_client_g{client_id="a\"b\\n\n",client_instance_id="i",k="}"} 1.5'
    (found,) = parse_page(f"# TYPE x\nother 1\n{line}\n", page="p")
    assert found.labels == {"client_id": 'a"b\\n\n', "client_instance_id": "i", "k": "}"}
    assert (found.name, found.value, found.page) == ("penstock_client_g", 1.5, "p")
