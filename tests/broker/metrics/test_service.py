"""The port of a real broker process: where it is, what it answers, and to whom."""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.metrics.scraping import OPEN_METRICS, address_of, get, parse, parse_open
from tests.broker_process import Server, ServerFailedError
from tests.conftest import MakeServer

from penstock.broker.metrics.address_file import read_address


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One broker process for the tests that only look."""
    server = Server(tmp_path_factory.mktemp("metrics")).start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def address(alone: Server) -> str:
    return address_of(alone.data_directory)


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


def test_page_is_served_in_both_formats(address: str) -> None:
    text = get(address, "/metrics")
    assert text.content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert parse(text.text).value("penstock_ready") == 1
    open_ = get(address, "/metrics", accept=OPEN_METRICS)
    assert open_.content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert parse_open(open_.text).value("penstock_ready") == 1


def test_process_tells_what_it_uses(alone: Server, address: str) -> None:
    page = parse(get(address, "/metrics").text)
    assert page.value("process_open_fds") == pytest.approx(alone.open_file_count(), abs=3)
    assert page.value("process_resident_memory_bytes") == pytest.approx(alone.resident_bytes(), rel=0.2)
    assert page.sum("process_cpu_seconds_total") > 0


def test_healthy_broker_says_so(address: str) -> None:
    for path in ("/health", "/health/ready"):
        answer = get(address, path)
        assert (answer.status, answer.content_type) == (200, "application/json")
        facts = json.loads(answer.text)
        assert (facts["live"], facts["ready"], facts["reasons"], facts["node"]) == (True, True, [], 1)
    assert json.loads(get(address, "/health/live").text) == {"live": True}


def test_other_paths_and_methods_are_refused(address: str) -> None:
    assert get(address, "/").status == 404
    assert get(address, "/metrics/").status == 404
    assert get(address, "/metrics", method="POST").status == 405
    assert get(address, "/metrics", method="HEAD").status == 405


def test_name_of_somebody_else_is_refused(address: str) -> None:
    """A page of the internet whose name points to this machine must not read along."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw, raw.makefile("rb") as answer:
        raw.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.evil.example\r\nConnection: close\r\n\r\n")
        assert answer.readline() == b"HTTP/1.1 421 Misdirected Request\r\n"


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool of Debian's package prometheus")
def test_promtool_finds_no_fault_but_in_names_of_the_exporter(address: str) -> None:
    page = get(address, "/metrics").text
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=page, capture_output=True, text=True, timeout=30, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("kafka_consumergroup_")]
    assert not complaints
    assert "error" not in done.stderr.lower()


def test_port_is_ten_thousand_above_the_brokers(tmp_path: Path) -> None:
    server = Server(tmp_path)
    for _ in range(10):  # somebody else may take one of the two between our look and the broker's
        server.port = free_port() % 20_000 + 30_000
        try:
            server.start()
            break
        except ServerFailedError:
            continue
    try:
        assert address_of(server.data_directory) == f"127.0.0.1:{server.port + 10_000}"
        assert '"event": "metrics are served"' in server.stderr_text()
    finally:
        server.close()


def test_taken_port_is_no_reason_not_to_start(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        taken = int(holder.getsockname()[1])
        server = Server(tmp_path)
        server.port = taken - 10_000
        server.start()
        try:
            found = address_of(server.data_directory)
            assert found != f"127.0.0.1:{taken}"
            assert get(found, "/health/live").status == 200
        finally:
            server.close()


def test_taken_port_that_was_named_is_one(make_server: MakeServer) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        taken = int(holder.getsockname()[1])
        server = make_server({"metrics.listener": f"127.0.0.1:{taken}"}, start=False, is_alone=True)
        server.launch()
        assert server.wait_exit() == 1
    assert f"Cannot serve metrics on 127.0.0.1:{taken}: the address is taken" in server.stderr_text()


def test_metrics_can_be_off(make_server: MakeServer) -> None:
    server = make_server({"metrics.listener": "off"}, is_alone=True)
    assert read_address(str(server.data_directory)) is None
    assert "metrics are served" not in server.stderr_text()


def test_broker_that_waits_for_its_cluster_lives_and_is_not_ready(
    make_server: MakeServer, closed_port: int
) -> None:
    server = make_server({"metrics.listener": f"127.0.0.1:{free_port()}"}, start=False, is_alone=True)
    server.join = f"127.0.0.1:{closed_port}"
    server.launch()
    found = server.settings["metrics.listener"]
    while True:
        try:
            live = get(found, "/health/live")
            break
        except ConnectionRefusedError:
            assert server.is_running, server.stderr_tail()
    assert live.status == 200
    answer = get(found, "/health")
    assert (answer.status, json.loads(answer.text)["reasons"]) == (503, ["The broker is starting."])
    page = parse(get(found, "/metrics").text)
    assert page.value("penstock_ready") == 0
    assert page.value("kafka_brokers") is None


def test_address_file_goes_with_the_broker(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    assert get(address_of(server.data_directory), "/health").status == 200
    assert server.stop() == 0
    assert read_address(str(server.data_directory)) is None
