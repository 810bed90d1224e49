"""Third-party clients that warn when imported, a broker for groups that is quick to notice, and members."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.broker_process import Server
from tests.conftest import EXTERNAL_BOOTSTRAP, UniqueName
from tests.interop.confluent import admin_client, create_topic
from tests.interop.group_members import MemberProcess
from tests.interop.members.story import Orders, Partition
from tests.interop.node_package import node_modules

from penstock.config.broker_keys import BROKER_KEYS

with warnings.catch_warnings():
    # kafka-python reads its message definitions by a function that Python deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401

_LIVELY = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 500,
    "group.consumer.min.session.timeout.ms": 500,
    "group.consumer.session.timeout.ms": 3000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 200,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
    "auto.create.topics.enable": False,
}
LIVELY = {key: value for key, value in _LIVELY.items() if key in BROKER_KEYS}
"""A broker's settings with which nobody waits long for what has died. Every one is Kafka's own."""


class MakeMember(Protocol):
    """Starts a member process that is gone after the test."""

    def __call__(self, client: str, **orders: Any) -> MemberProcess: ...


class MakeTopic(Protocol):
    """Creates a topic; its partitions."""

    def __call__(self, partitions: int, prefix: str = "grouped") -> list[Partition]: ...


@pytest.fixture(scope="session")
def node_path() -> Path:
    """Where kafkajs is."""
    return node_modules()


@pytest.fixture(scope="session")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of a broker for groups and transactions, shared by this worker's tests."""
    if EXTERNAL_BOOTSTRAP:
        yield EXTERNAL_BOOTSTRAP
        return
    shared = Server(tmp_path_factory.mktemp("lively-broker"), settings=LIVELY).start()
    try:
        yield shared.bootstrap
    finally:
        shared.close()


@pytest.fixture
def make_member(request: pytest.FixtureRequest) -> Iterator[MakeMember]:
    """A factory of members that belong to one test; the broker is the shared one unless another is named."""
    made: list[MemberProcess] = []

    def make(client: str, **orders: Any) -> MemberProcess:
        if "bootstrap" not in orders:
            orders["bootstrap"] = request.getfixturevalue("lively")
        is_node = client == "kafkajs"
        environment = {"NODE_PATH": str(request.getfixturevalue("node_path"))} if is_node else {}
        made.append(MemberProcess(client, Orders(**orders), environment=environment))
        return made[-1]

    try:
        yield make
    finally:
        for member in made:
            member.close()


@pytest.fixture
def make_topic(lively: str, unique: UniqueName) -> MakeTopic:
    """A factory of topics on the shared broker."""
    admin = admin_client(lively)

    def make(partitions: int, prefix: str = "grouped") -> list[Partition]:
        name = create_topic(admin, unique(prefix), partitions=partitions)
        return [(name, number) for number in range(partitions)]

    return make
