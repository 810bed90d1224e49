"""A member of a group that uses aiokafka, as a process."""

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError
from tests.interop.members.story import Orders, Story, orders
from tests.telling import end_of_input

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


def generation_of(consumer: AIOKafkaConsumer) -> int:
    """This client shows it nowhere."""
    generation: int = consumer._coordinator.generation
    return generation


class Listener(ConsumerRebalanceListener):  # type: ignore[misc] # The client has no types.
    def __init__(self, consumer: AIOKafkaConsumer, story: Story) -> None:
        self.consumer = consumer
        self.story = story

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self.story.revoked(generation_of(self.consumer), [tuple(one) for one in revoked])

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.story.assigned(generation_of(self.consumer), [tuple(one) for one in assigned])


async def commit(consumer: AIOKafkaConsumer, story: Story) -> None:
    offsets = dict(story.uncommitted)
    if not offsets:
        return
    generation = generation_of(consumer)
    try:
        await consumer.commit({TopicPartition(*key): offset for key, offset in offsets.items()})
    except KafkaError as error:
        story.failed(generation, "commit", error)
        return
    story.committed(generation, offsets)


def records(polled: dict[Any, list[Any]]) -> list[tuple[str, int, int, str]]:
    return [(r.topic, r.partition, r.offset, r.value.decode()) for many in polled.values() for r in many]


async def consume(given: Orders, story: Story, ended: threading.Event) -> None:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=given.bootstrap,
        group_id=given.group,
        group_instance_id=given.instance_id,
        partition_assignment_strategy=(ASSIGNORS[given.assignor],),
        session_timeout_ms=given.session_timeout_ms,
        heartbeat_interval_ms=given.heartbeat_interval_ms,
        rebalance_timeout_ms=10_000,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=50,
        retry_backoff_ms=50,
    )
    consumer.subscribe(list(given.topics), listener=Listener(consumer, story))
    await consumer.start()
    while not ended.is_set():
        polled = await consumer.getmany(timeout_ms=50, max_records=200)
        story.processed(generation_of(consumer), records(polled))
        await commit(consumer, story)
    await consumer.stop()
    story.closed()


if __name__ == "__main__":
    mine = orders()
    asyncio.run(consume(mine, Story(), end_of_input()))
