"""Third-party clients that warn when imported, a broker for groups that is quick to notice, and members."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.conftest import EXTERNAL_BOOTSTRAP, UniqueName, new_server
from tests.interop.confluent import admin_client, create_topic
from tests.interop.group_members import MemberProcess
from tests.interop.members.story import Orders, Partition
from tests.interop.node_package import node_modules
from tests.lively_broker import LIVELY

with warnings.catch_warnings():
    # kafka-python reads its message definitions by a function that Python deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka  # noqa: F401


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
    shared = new_server(tmp_path_factory.mktemp("lively-broker"), settings=LIVELY).start()
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
