"""Broker processes for every test that wants one, and their logs beside every failure.

``PENSTOCK_TEST_BOOTSTRAP=host:port`` runs the client tests against a broker that is already there instead,
for example Apache Kafka: that is how their expectations were calibrated.
"""

import itertools
import os
import secrets
import signal
import socket
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest
from tests.broker_process import STARTED, Server
from tests.cluster_as_server import ClusterAsServer
from tests.cluster_size import NODE_COUNT

# A shell's background job ignores Ctrl-C, and so would everything that tests start, or call here.
signal.signal(signal.SIGINT, signal.default_int_handler)

EXTERNAL_BOOTSTRAP = os.environ.get("PENSTOCK_TEST_BOOTSTRAP", "")
_RUN = secrets.token_hex(3)
_NUMBERS = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """What sessions of Spark keep for later ones is kept beside the tests, and nothing made behind them."""
    os.environ.setdefault("PENSTOCK_SPARK_ARCHIVE", "existing")
    os.environ.setdefault("PENSTOCK_GATEWAY", "off")
    os.environ.setdefault("PENSTOCK_CACHE_DIR", str(config.rootpath / ".pytest_cache" / "penstock"))


class MakeServer(Protocol):
    """Starts a broker of the test's own, on an empty directory, gone after the test.

    It is one broker, also where others stand for a cluster, if the test ``is_alone`` with it.
    """

    def __call__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        data_directory: Path | None = None,
        start: bool = True,
        is_alone: bool = False,
    ) -> Server: ...


def new_server(directory: Path, *, settings: Mapping[str, object] | None = None) -> Server:
    """A broker, or a cluster in its place, not started yet."""
    if NODE_COUNT > 1:
        return ClusterAsServer(directory, settings=settings)
    return Server(directory, settings=settings)


class UniqueName(Protocol):
    """Makes names."""

    def __call__(self, prefix: str = "topic") -> str: ...


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One broker for all client tests of this worker; tests keep apart by topic names."""
    if EXTERNAL_BOOTSTRAP:
        pytest.skip("needs a penstock process, not a broker that is already there")
    shared = new_server(tmp_path_factory.mktemp("shared-broker")).start()
    try:
        yield shared
    finally:
        shared.close()


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> str:
    """``host:port`` of the shared broker, or of the one named by PENSTOCK_TEST_BOOTSTRAP."""
    if EXTERNAL_BOOTSTRAP:
        return EXTERNAL_BOOTSTRAP
    shared: Server = request.getfixturevalue("server")
    return shared.bootstrap


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[MakeServer]:
    """A factory of brokers that belong to one test."""
    made: list[Server] = []

    def make(
        settings: Mapping[str, object] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        data_directory: Path | None = None,
        start: bool = True,
        is_alone: bool = False,
    ) -> Server:
        make_one = Server if is_alone else new_server
        one = make_one(tmp_path / f"broker-{len(made)}", settings=settings)
        one.environment.update(environment or {})
        one.data_directory = data_directory or one.data_directory
        made.append(one)
        return one.start() if start else one

    try:
        yield make
    finally:
        for one in made:
            one.close()


@pytest.fixture(scope="session")
def unique() -> UniqueName:
    """Names that no other test, worker or earlier run uses."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw")

    def name(prefix: str = "topic") -> str:
        return f"{prefix}-{_RUN}-{worker}-{next(_NUMBERS)}"

    return name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the log of every living broker beside a failed test."""
    report = yield
    if report.failed:
        for one in STARTED:
            report.sections.append((f"stderr of the broker at {one.bootstrap}", one.stderr_tail()))
    return report


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken but not listened on, so that connections to it are refused."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
