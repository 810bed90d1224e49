"""Somebody else's Kafka in the place of a broker under test: the same topics, and nothing to tamper with."""

from typing import Any, NoReturn

import pytest

from penstock.config.listeners import parse_server
from penstock.testing.broker import Broker
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import Struct
from penstock.wire_client.connection import Address, Connection


class ExternalHome:
    """A broker that was there before the tests, and stays."""

    is_running = True
    is_paused = False

    def __init__(self, address: str) -> None:
        self.address = address
        server = parse_server(address.split(",")[0])
        self._first = Address(server.host, server.port)

    def launch(self, settings: object) -> None:
        """It is there."""

    def wait_ready(self) -> None:
        """It is ready, or the first test will say so."""

    def close(self) -> None:
        """It stays."""

    def ask(self, api: ApiKey, request: Struct) -> Any:
        """Its answer."""
        with Connection(self._first) as connection:
            return connection.call(api, request)

    def log_text(self) -> str:
        """It is not ours to read."""
        return ""

    def stop(self) -> NoReturn:
        """It is not ours to stop."""
        _skip("be stopped")

    kill = pause = resume = wipe = stop


class ExternalBroker(Broker):
    """Skips tests that need more than a Kafka."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._home = ExternalHome(address)

    def launch(self) -> None:
        """It is there."""

    def close(self) -> None:
        """It stays."""

    def tidy(self) -> None:
        """Nothing was done to it."""

    def restart(self) -> None:
        """It is not ours to restart."""
        _skip("be restarted")

    def _check_thread(self, what: str) -> None:
        _skip("be tampered with")


def _skip(what: str) -> NoReturn:
    pytest.skip(f"The Kafka named by --penstock-bootstrap cannot {what}.")
