"""A gateway comes up, answers, and goes down."""

import socket

import httpx2
import pytest
from tests.gateway.conftest import MakeGateway

from penstock.gateway.server import GatewayServer
from penstock.model.errors import OperatingError


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
