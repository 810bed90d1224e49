"""A registry for each test, behind its REST API."""

from collections.abc import Iterator

import pytest
from tests.spark.registry.stand_in import StandIn, stand_in


@pytest.fixture
def registry() -> Iterator[StandIn]:
    with stand_in() as server:
        yield server
