"""Bills orders as they come; an order that cannot be billed is tried again, and then put aside."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import OffsetOutOfRangeError

from orders.model import Order
from orders.settings import Settings

logger = logging.getLogger(__name__)

Charge = Callable[[Order], Awaitable[None]]
"""Takes the money; raises when it cannot."""


class OrdersLostError(Exception):
    """Billing was away for so long that orders were deleted before it saw them."""


class Billing:
    """One member of the billing group, for the length of an ``async with`` block."""

    def __init__(self, settings: Settings, charge: Charge) -> None:
        self._settings = settings
        self._charge = charge
        self._consumer = AIOKafkaConsumer(
            settings.orders_topic,
            bootstrap_servers=settings.bootstrap_servers,
            client_id="orders-billing",
            group_id=settings.group,
            enable_auto_commit=False,
            auto_offset_reset="none",
            retry_backoff_ms=20,
            fetch_max_wait_ms=100,
        )
        self._dead_letters = AIOKafkaProducer(
            bootstrap_servers=settings.bootstrap_servers, client_id="orders-billing", enable_idempotence=True
        )

    async def __aenter__(self) -> Self:
        await self._dead_letters.start()
        await self._consumer.start()
        await self._begin_where_nothing_was_committed()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()
        await self._dead_letters.stop()

    async def bill(self, count: int) -> None:
        """Deal with so many orders. An order counts as dealt with when its offset is committed."""
        for _ in range(count):
            message = await self._next()
            await self._deal_with(message)
            await self._consumer.commit()

    async def _begin_where_nothing_was_committed(self) -> None:
        """A new group begins at the beginning; one that has lost its place must not."""
        for partition in self._consumer.assignment():
            if await self._consumer.committed(partition) is None:
                await self._consumer.seek_to_beginning(partition)

    async def _next(self) -> Any:
        try:
            return await self._consumer.getone()
        except OffsetOutOfRangeError as error:
            raise OrdersLostError("orders were deleted before they were billed") from error

    async def _deal_with(self, message: Any) -> None:
        problem: Exception | None = None
        for _ in range(self._settings.attempts):
            try:
                await self._charge(Order.from_bytes(message.value))
                return
            except ValueError as error:
                problem = error
                break  # it will not become an order by trying again
            except Exception as error:
                problem = error
                logger.warning("order at offset %d was not billed: %r", message.offset, error)
        await self._put_aside(message, problem)

    async def _put_aside(self, message: Any, problem: Exception | None) -> None:
        origin = f"{message.topic}-{message.partition}@{message.offset}"
        await self._dead_letters.send_and_wait(
            self._settings.dead_letter_topic,
            message.value,
            key=message.key,
            headers=[("origin", origin.encode()), ("reason", repr(problem).encode())],
        )
