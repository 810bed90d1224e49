"""The relay against a broker that does its worst."""

import asyncio
from dataclasses import replace

from orders.model import Order
from orders.outbox import Outbox
from orders.relay import relay
from orders.settings import Settings
from tests.topics import read

from penstock.testing import Broker


def relayed(settings: Settings) -> list[str]:
    """The orders in the topic."""
    messages = asyncio.run(read(settings.bootstrap_servers, settings.orders_topic))
    return [Order.from_bytes(message.value).number for message in messages]


def place(outbox: Outbox, *numbers: str) -> None:
    for number in numbers:
        outbox.place(Order(number=number, customer="ada", cents=100))


def test_orders_reach_the_topic_in_their_order(outbox: Outbox, settings: Settings) -> None:
    place(outbox, "A-1", "A-2", "A-3")
    assert asyncio.run(relay(outbox, settings)) == 3
    assert relayed(settings) == ["A-1", "A-2", "A-3"]
    assert outbox.pending() == []


def test_empty_outbox_asks_nothing(outbox: Outbox, settings: Settings, penstock_broker: Broker) -> None:
    assert asyncio.run(relay(outbox, settings)) == 0
    assert penstock_broker.requests.count(client_id="orders-relay") == 0


def test_leader_that_moved_is_looked_for(outbox: Outbox, settings: Settings, penstock_broker: Broker) -> None:
    fault = penstock_broker.faults.fail(
        "Produce", error="NOT_LEADER_OR_FOLLOWER", times=2, topic=settings.orders_topic
    )
    place(outbox, "A-1")
    assert asyncio.run(relay(outbox, settings)) == 1
    assert fault.hits == 2
    assert relayed(settings) == ["A-1"]


def test_lost_answer_does_not_double_an_order(
    outbox: Outbox, settings: Settings, penstock_broker: Broker
) -> None:
    """The interesting one: the record is there, and the relay cannot know it."""
    fault = penstock_broker.faults.drop("Produce", when="after", times=1, topic=settings.orders_topic)
    place(outbox, "A-1")
    assert asyncio.run(relay(outbox, settings)) == 1
    assert fault.hits == 1
    assert relayed(settings) == ["A-1"]


def test_lost_request_does_not_lose_an_order(
    outbox: Outbox, settings: Settings, penstock_broker: Broker
) -> None:
    penstock_broker.faults.drop("Produce", times=1, topic=settings.orders_topic)
    place(outbox, "A-1")
    assert asyncio.run(relay(outbox, settings)) == 1
    assert relayed(settings) == ["A-1"]


def test_refused_order_waits_in_the_outbox(
    outbox: Outbox, settings: Settings, penstock_broker: Broker
) -> None:
    place(outbox, "A-1", "A-2")
    with penstock_broker.faults.fail("Produce", error="TOPIC_AUTHORIZATION_FAILED"):
        assert asyncio.run(relay(outbox, settings)) == 0
    assert len(outbox.pending()) == 2
    assert asyncio.run(relay(outbox, settings)) == 2
    assert relayed(settings) == ["A-1", "A-2"]


def test_slow_broker_is_not_waited_for(outbox: Outbox, settings: Settings, penstock_broker: Broker) -> None:
    place(outbox, "A-1")
    with penstock_broker.faults.delay("Produce", seconds=0.6):
        assert asyncio.run(relay(outbox, replace(settings, send_seconds=0.3))) == 0
    assert len(outbox.pending()) == 1


def test_broker_that_was_killed_has_kept_what_it_acknowledged(
    outbox: Outbox, settings: Settings, penstock_broker: Broker
) -> None:
    place(outbox, "A-1")
    asyncio.run(relay(outbox, settings))
    penstock_broker.kill()
    penstock_broker.restart()
    place(outbox, "A-2")
    asyncio.run(relay(outbox, settings))
    assert relayed(settings) == ["A-1", "A-2"]
