"""One broker that knows nothing of TLS and logins, and an authority, for all tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.wire_client.security.certificates import HOSTS, Authority

from penstock.wire_client.connection import Address


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def plain_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    server = Server(tmp_path_factory.mktemp("broker"))
    server.start()
    try:
        yield Address(server.host, server.port)
    finally:
        server.close()


@pytest.fixture(scope="module")
def broker_certificate(authority: Authority) -> tuple[Path, Path]:
    return authority.sign("broker", hosts=HOSTS)
