"""Brokers to be ill-treated."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker_process import Server
from tests.chaos.filled_log import FilledDirectories
from tests.chaos.small_disk import small_disk
from tests.chaos.vitals import unharmed
from tests.conftest import UniqueName
from tests.raw_kafka import Connection

__all__ = ["small_disk"]


@pytest.fixture(scope="module")
def shared_victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One broker for a module's hostile clients: it must survive all of them as one process."""
    server = Server(tmp_path_factory.mktemp("victim")).start()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def victim(shared_victim: Server) -> Iterator[Server]:
    """The module's broker, examined after every test."""
    with unharmed(shared_victim):
        yield shared_victim


@pytest.fixture
def client(victim: Server) -> Iterator[Connection]:
    """A hand-driven connection to it."""
    with Connection(victim.bootstrap) as connection:
        yield connection


@pytest.fixture
def topic(client: Connection, unique: UniqueName) -> str:
    """A fresh topic of one partition."""
    name = unique()
    assert client.create_topic(name) == 0
    return name


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> FilledDirectories:
    """Directories with known content, made once."""
    return FilledDirectories(tmp_path_factory.mktemp("filled"))


@pytest.fixture(params=["stopped", "killed"])
def ended(request: pytest.FixtureRequest, filled: FilledDirectories, tmp_path: Path) -> Iterator[Server]:
    """A filled broker that is down, once by SIGTERM and once by SIGKILL."""
    server = filled.copy_to(tmp_path / "ended", ending=request.param)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def killed(filled: FilledDirectories, tmp_path: Path) -> Iterator[Server]:
    """A filled broker that is down by SIGKILL."""
    server = filled.copy_to(tmp_path / "killed", ending="killed")
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def stopped(filled: FilledDirectories, tmp_path: Path) -> Iterator[Server]:
    """A filled broker that is down by SIGTERM."""
    server = filled.copy_to(tmp_path / "stopped", ending="stopped")
    try:
        yield server
    finally:
        server.close()
