"""Two clusters for tests of mirrors: one to copy from, and one to copy to."""

from collections.abc import Iterator

import pytest

from penstock.spark.mirror.access import Access
from penstock.spark.mirror.clusters import Clusters
from penstock.testing import Broker


@pytest.fixture
def east() -> Iterator[Broker]:
    with Broker(settings={"auto.create.topics.enable": False}) as broker:
        yield broker


@pytest.fixture
def west() -> Iterator[Broker]:
    with Broker(settings={"auto.create.topics.enable": False}) as broker:
        yield broker


@pytest.fixture
def clusters(east: Broker, west: Broker) -> Iterator[Clusters]:
    """From east to west."""
    with Clusters.connect(
        source=Access(bootstrap_servers=east.bootstrap_servers),
        target=Access(bootstrap_servers=west.bootstrap_servers),
    ) as both:
        yield both
