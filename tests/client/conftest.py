"""A broker for our own clients, quick to notice everything, and topics on it."""

from collections.abc import Iterator
from typing import Protocol

import pytest
from tests.conftest import EXTERNAL_BOOTSTRAP, UniqueName, new_server
from tests.lively_broker import LIVELY

from penstock import Admin


class MakeTopic(Protocol):
    """Creates a topic of the test's own; its name."""

    def __call__(self, partitions: int = 1) -> str: ...


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of a broker that is shared by this worker's tests."""
    if EXTERNAL_BOOTSTRAP:
        yield EXTERNAL_BOOTSTRAP
        return
    shared = new_server(tmp_path_factory.mktemp("client-broker"), settings=LIVELY).start()
    try:
        yield shared.bootstrap
    finally:
        shared.close()


@pytest.fixture
def admin(broker: str) -> Iterator[Admin]:
    with Admin(bootstrap_servers=broker) as made:
        yield made


@pytest.fixture
def make_topic(admin: Admin, unique: UniqueName) -> MakeTopic:
    def make(partitions: int = 1) -> str:
        name = unique()
        admin.create_topic(name, partitions=partitions, config={"retention.ms": "-1"})
        return name

    return make


@pytest.fixture
def topic(make_topic: MakeTopic) -> str:
    """With one partition."""
    return make_topic()
