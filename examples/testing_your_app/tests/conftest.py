"""The service's topics on the broker that Penstock's fixtures provide."""

from pathlib import Path

import pytest
from orders.model import Order
from orders.outbox import Outbox
from orders.settings import Settings

from penstock.testing import Broker


@pytest.fixture
def settings(penstock_broker: Broker) -> Settings:
    """Topics and a group of this test's own."""
    broker = penstock_broker
    orders = broker.create_topic(broker.topic("orders"), retention_ms=24 * 3600 * 1000)
    dead = broker.create_topic(broker.topic("dead"))
    return Settings(
        bootstrap_servers=broker.bootstrap_servers,
        orders_topic=orders,
        dead_letter_topic=dead,
        group=broker.topic("billing"),
    )


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    """An empty database."""
    return Outbox(tmp_path / "orders.db")


@pytest.fixture
def order() -> Order:
    """Three valves for Ada."""
    return Order(number="A-1", customer="ada", cents=1250)
