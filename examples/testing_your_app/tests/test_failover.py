"""What a single broker cannot show: the death of the one that leads."""

import asyncio

from orders.model import Order
from orders.outbox import Outbox
from orders.relay import relay
from orders.settings import Settings
from tests.topics import read

from penstock.testing import Cluster


def test_orders_go_on_when_the_leader_dies(outbox: Outbox, penstock_cluster: Cluster) -> None:
    topic = penstock_cluster.create_topic(min_insync_replicas=2)
    settings = Settings(
        bootstrap_servers=penstock_cluster.bootstrap_servers, orders_topic=topic, dead_letter_topic=""
    )
    outbox.place(Order(number="A-1", customer="ada", cents=100))
    assert asyncio.run(relay(outbox, settings)) == 1
    penstock_cluster.kill(penstock_cluster.leader(topic))
    outbox.place(Order(number="A-2", customer="ada", cents=100))
    assert asyncio.run(relay(outbox, settings)) == 1
    found = asyncio.run(read(settings.bootstrap_servers, topic))
    assert [Order.from_bytes(message.value).number for message in found] == ["A-1", "A-2"]
