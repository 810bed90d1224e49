"""Billing: every order is billed or put aside, whatever happens on the way."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from aiokafka.errors import KafkaError
from orders.billing import Billing, OrdersLostError
from orders.model import Order
from orders.settings import Settings
from tests.topics import read, write

from penstock.testing import Broker


class Till:
    """Takes the money, unless it is told not to."""

    def __init__(self, *, failures: int = 0, refused: tuple[str, ...] = ()) -> None:
        self.billed: list[str] = []
        self.attempts = 0
        self._failures = failures
        self._refused = refused

    async def charge(self, order: Order) -> None:
        self.attempts += 1
        if self._failures or order.number in self._refused:
            self._failures = max(0, self._failures - 1)
            raise ConnectionError("the bank does not answer")
        self.billed.append(order.number)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Within a bounded time."""
    asyncio.run(asyncio.wait_for(work, 15))


async def place(settings: Settings, *numbers: str) -> None:
    orders = [Order(number=number, customer="ada", cents=100).to_bytes() for number in numbers]
    await write(settings.bootstrap_servers, settings.orders_topic, *orders)


def test_every_order_is_billed_once(settings: Settings) -> None:
    till = Till()

    async def work() -> None:
        await place(settings, "A-1", "A-2")
        async with Billing(settings, till.charge) as billing:
            await billing.bill(2)

    run(work())
    assert till.billed == ["A-1", "A-2"]


def test_bank_that_fails_twice_is_asked_again(settings: Settings) -> None:
    till = Till(failures=2)

    async def work() -> None:
        await place(settings, "A-1")
        async with Billing(settings, till.charge) as billing:
            await billing.bill(1)
        assert await read(settings.bootstrap_servers, settings.dead_letter_topic) == []

    run(work())
    assert (till.billed, till.attempts) == (["A-1"], 3)


def test_order_that_cannot_be_billed_is_put_aside_with_its_reason(settings: Settings) -> None:
    till = Till(refused=("A-1",))

    async def work() -> None:
        await place(settings, "A-1", "A-2")
        async with Billing(settings, till.charge) as billing:
            await billing.bill(2)
        (letter,) = await read(settings.bootstrap_servers, settings.dead_letter_topic)
        headers = dict(letter.headers)
        assert headers["origin"] == f"{settings.orders_topic}-0@0".encode()
        assert b"the bank does not answer" in headers["reason"]

    run(work())
    assert till.billed == ["A-2"]


def test_rubbish_is_put_aside_without_asking_the_bank(settings: Settings) -> None:
    till = Till()

    async def work() -> None:
        await write(settings.bootstrap_servers, settings.orders_topic, b"rubbish")
        async with Billing(settings, till.charge) as billing:
            await billing.bill(1)
        assert len(await read(settings.bootstrap_servers, settings.dead_letter_topic)) == 1

    run(work())
    assert till.attempts == 0


def test_order_whose_commit_failed_comes_again(settings: Settings, penstock_broker: Broker) -> None:
    till = Till()

    async def work() -> None:
        await place(settings, "A-1")
        fault = penstock_broker.faults.fail("OffsetCommit", error="GROUP_AUTHORIZATION_FAILED")
        with fault, pytest.raises(KafkaError):
            async with Billing(settings, till.charge) as billing:
                await billing.bill(1)
        async with Billing(settings, till.charge) as billing:
            await billing.bill(1)

    run(work())
    assert till.billed == ["A-1", "A-1"]


def test_coordinator_that_moved_is_looked_for(settings: Settings, penstock_broker: Broker) -> None:
    till = Till()
    fault = penstock_broker.faults.fail("OffsetCommit", error="NOT_COORDINATOR", times=1)

    async def work() -> None:
        await place(settings, "A-1")
        async with Billing(settings, till.charge) as billing:
            await billing.bill(1)

    run(work())
    assert fault.hits == 1
    assert till.billed == ["A-1"]


def test_order_that_cannot_be_put_aside_is_not_lost(settings: Settings, penstock_broker: Broker) -> None:
    till = Till(refused=("A-1",))

    async def work() -> None:
        await place(settings, "A-1")
        fault = penstock_broker.faults.fail(
            "Produce", error="TOPIC_AUTHORIZATION_FAILED", topic=settings.dead_letter_topic
        )
        with fault, pytest.raises(KafkaError):
            async with Billing(settings, till.charge) as billing:
                await billing.bill(1)
        async with Billing(settings, till.charge) as billing:
            await billing.bill(1)
        assert len(await read(settings.bootstrap_servers, settings.dead_letter_topic)) == 1

    run(work())


def test_billing_that_was_away_for_a_weekend_says_that_orders_are_lost(
    settings: Settings, penstock_broker: Broker
) -> None:
    """Orders are kept for a day."""
    till = Till()

    async def work() -> None:
        await place(settings, "A-1", "A-2", "A-3")
        async with Billing(settings, till.charge) as billing:
            await billing.bill(1)
        penstock_broker.clock.advance(days=2)
        async with Billing(settings, till.charge) as billing:
            with pytest.raises(OrdersLostError):
                await billing.bill(1)

    run(work())
    assert till.billed == ["A-1"]
