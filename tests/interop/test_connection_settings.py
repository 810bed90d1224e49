"""Bounds on connections that are changed while a broker runs."""

import socket
from contextlib import ExitStack

from tests.broker_process import wait_until
from tests.conftest import MakeServer

from penstock import Admin, ConfigKind


def test_fewer_connections_are_let_in_once_the_setting_says_so(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    host, port = server.bootstrap.rsplit(":", 1)
    with Admin(bootstrap_servers=server.bootstrap) as admin, ExitStack() as open_ones:
        for _ in range(20):
            open_ones.enter_context(socket.create_connection((host, int(port)), timeout=10))

        admin.alter_config(1, {"max.connections": 10}, kind=ConfigKind.BROKER)

        wait_until(lambda: _is_refused(host, int(port)), what="the new bound", seconds=10)


def _is_refused(host: str, port: int) -> bool:
    """Whether the broker hangs up at once."""
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.settimeout(0.3)
        try:
            return connection.recv(1) == b""
        except TimeoutError:
            return False
        except ConnectionResetError:
            return True
