"""Fixtures for pytest: a broker, a cluster, a topic, a schema registry, each ready when a test asks for it.

pytest loads this module in every run where Penstock is installed, so it imports nothing and does nothing
until a test uses one of its fixtures. ``penstock.testing.shared`` has what happens then.
"""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from penstock.testing.broker import Broker
    from penstock.testing.cluster import Cluster
    from penstock.testing.registry import Registry
    from penstock.testing.shared import SharedBrokers

MARKER = "penstock_topic(partitions=1, **settings): how the topic of the fixture penstock_topic is made"
CLUSTER_SIZE = "3"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options for people and for ``pyproject.toml``."""
    group = parser.getgroup("penstock")
    group.addoption(
        "--penstock-bootstrap",
        metavar="HOST:PORT",
        default=None,
        help="run against a Kafka that is already there; tests of faults, time and deaths are skipped",
    )
    group.addoption(
        "--penstock-process",
        action="store_true",
        default=False,
        help="run brokers as processes of their own; tests of faults and time are skipped",
    )
    parser.addini("penstock_settings", type="linelist", help="settings of the brokers, each as name=value")
    parser.addini("penstock_cluster_size", default=CLUSTER_SIZE, help="brokers of penstock_cluster")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


def _shared(config: pytest.Config) -> "SharedBrokers":
    from penstock.testing.shared import shared_brokers

    return shared_brokers(config)


@pytest.fixture(scope="session")
def penstock_session_broker(pytestconfig: pytest.Config) -> "Iterator[Broker]":
    """One broker for the whole run of this worker, for fixtures that outlive a test."""
    with _shared(pytestconfig).new_broker() as broker:
        yield broker


@pytest.fixture
def penstock_broker(penstock_session_broker: "Broker") -> "Iterator[Broker]":
    """The broker of this worker, as new: no faults, no requests noted, running, its clock and settings right.

    Topics of other tests are still there; use names of your own (``penstock_topic``, ``broker.topic()``).
    """
    before = dict(penstock_session_broker.settings)
    yield penstock_session_broker
    penstock_session_broker.settings = before
    penstock_session_broker.tidy()


@pytest.fixture(scope="session")
def penstock_session_cluster(pytestconfig: pytest.Config) -> "Iterator[Cluster]":
    """One cluster for the whole run of this worker."""
    with _shared(pytestconfig).new_cluster() as cluster:
        yield cluster


@pytest.fixture
def penstock_cluster(penstock_session_cluster: "Cluster") -> "Iterator[Cluster]":
    """The cluster of this worker, whole: whatever a test has done to it is undone afterwards."""
    before = [dict(broker.settings) for broker in penstock_session_cluster.brokers]
    yield penstock_session_cluster
    for broker, settings in zip(penstock_session_cluster.brokers, before, strict=True):
        broker.settings = settings
    penstock_session_cluster.tidy()


@pytest.fixture
def penstock_topic(penstock_broker: "Broker", request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a fresh topic, named after the test and deleted after it."""
    marker = request.node.get_closest_marker("penstock_topic")
    partitions, settings = ((), {}) if marker is None else (marker.args, marker.kwargs)
    name = penstock_broker.create_topic(penstock_broker.topic(request.node.name), *partitions, **settings)
    yield name
    if penstock_broker.is_running and not penstock_broker.is_paused:
        penstock_broker.delete_topic(name)


@pytest.fixture
def penstock_registry(penstock_broker: "Broker") -> "Iterator[Registry]":
    """A schema registry on that broker; it has ``url``. Schemas of other tests are still there."""
    from penstock.testing.registry import Registry

    with Registry(penstock_broker) as registry:
        yield registry


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the logs of brokers beside a failed test that used them."""
    report = yield
    fixtures: tuple[str, ...] = tuple(getattr(item, "fixturenames", ()))
    if report.failed and any(name.startswith("penstock_") for name in fixtures):
        report.sections.extend(_shared(item.config).log_sections(fixtures))
    return report
