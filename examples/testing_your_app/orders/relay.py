"""Tells what is in the outbox: every event at least once, and through retries exactly once."""

import asyncio
import logging

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from orders.outbox import Outbox
from orders.settings import Settings

logger = logging.getLogger(__name__)


async def relay(outbox: Outbox, settings: Settings) -> int:
    """Send what is pending; how many events were acknowledged. The rest waits for the next time.

    Every round has a producer of its own: after an event that was refused, a producer's sequence has a gap.
    """
    pending = outbox.pending()
    if not pending:
        return 0
    producer = AIOKafkaProducer(
        bootstrap_servers=settings.bootstrap_servers,
        client_id="orders-relay",
        enable_idempotence=True,
        retry_backoff_ms=20,
        request_timeout_ms=5_000,
    )
    await producer.start()
    sent = 0
    try:
        async with asyncio.timeout(settings.send_seconds):
            for event in pending:
                await producer.send_and_wait(settings.orders_topic, event.value, key=event.key.encode())
                outbox.forget(event)
                sent += 1
    except (KafkaError, TimeoutError) as error:
        logger.warning("%d events wait for the next round: %r", len(pending) - sent, error)
    finally:
        await producer.stop()
    return sent
