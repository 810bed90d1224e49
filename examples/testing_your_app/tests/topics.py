"""What tests put into topics and find there."""

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition


async def write(bootstrap: str, topic: str, *values: bytes) -> None:
    """Put records into a topic."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap)
    await producer.start()
    try:
        for value in values:
            await producer.send_and_wait(topic, value, key=b"ada")
    finally:
        await producer.stop()


async def read(bootstrap: str, topic: str) -> list[Any]:
    """Everything in a topic, at this moment."""
    partition = TopicPartition(topic, 0)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, auto_offset_reset="earliest", fetch_max_wait_ms=50
    )
    await consumer.start()
    try:
        consumer.assign([partition])
        end = (await consumer.end_offsets([partition]))[partition]
        found: list[Any] = []
        async with asyncio.timeout(10):
            while await consumer.position(partition) < end:
                found.append(await consumer.getone())
        return found
    finally:
        await consumer.stop()
