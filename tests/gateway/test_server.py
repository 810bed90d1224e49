"""A gateway comes up, answers, and goes down."""

import socket
import subprocess
import sys

import httpx2
import pytest
from tests.gateway.conftest import MakeGateway

from penstock.gateway.server import GatewayServer
from penstock.model.errors import OperatingError

STOP_SECONDS_MAX = 30

TOLD_TWICE = """
import signal
from penstock.gateway.server import GatewayServer
from penstock.gateway.settings import GatewaySettings

server = GatewayServer(
    GatewaySettings(bootstrap_servers="127.0.0.1:1", host="127.0.0.1", port=0),
    on_up=lambda url: signal.raise_signal(signal.SIGTERM),
)
held = server.gateway.closing._cond  # The lock that is taken while the event is being set.
notify_all = held.notify_all
again = [signal.SIGTERM]

def interrupted():
    while again:
        signal.raise_signal(again.pop())
    notify_all()

held.notify_all = interrupted
server.run()
print("ended", again)
"""


def test_gateway_answers_health(gateway: GatewayServer) -> None:
    answer = httpx2.get(f"{gateway.url}/health")

    assert answer.status_code == 200
    assert answer.json() == {"status": "up"}


def test_gateway_starts_without_a_cluster(make_gateway: MakeGateway, closed_port: int) -> None:
    alone = make_gateway(f"127.0.0.1:{closed_port}")

    assert httpx2.get(f"{alone.url}/health").status_code == 200


def test_gateway_names_a_taken_port(make_gateway: MakeGateway, bootstrap: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OperatingError, match=f"cannot listen on 127.0.0.1:{taken.getsockname()[1]}"):
            make_gateway(bootstrap, port=taken.getsockname()[1])


def test_unknown_path_is_an_error_in_the_one_shape(gateway: GatewayServer) -> None:
    answer = httpx2.get(f"{gateway.url}/no/such/thing")

    assert (answer.status_code, answer.json()) == (404, {"error_code": 404, "message": "Not Found"})


def test_signal_that_comes_while_another_is_obeyed_does_not_keep_a_gateway_from_ending() -> None:
    words = [sys.executable, "-c", TOLD_TWICE]
    done = subprocess.run(words, capture_output=True, text=True, timeout=STOP_SECONDS_MAX, check=False)

    assert (done.returncode, done.stdout) == (0, "ended []\n"), done.stderr
