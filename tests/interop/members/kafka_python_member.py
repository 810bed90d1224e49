"""A member of a group that uses kafka-python, as a process."""

from collections.abc import Sequence
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import KafkaError
from tests.interop.members.story import Story, orders
from tests.telling import end_of_input

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


def generation_of(consumer: KafkaConsumer) -> int:
    generation: int = consumer.group_metadata().generation_id
    return generation


class Listener(ConsumerRebalanceListener):  # type: ignore[misc] # The client has no types.
    def __init__(self, consumer: KafkaConsumer, story: Story) -> None:
        self.consumer = consumer
        self.story = story

    def on_partitions_assigned(self, assigned: Sequence[TopicPartition]) -> None:
        self.story.assigned(generation_of(self.consumer), [tuple(one) for one in assigned])

    def on_partitions_revoked(self, revoked: Sequence[TopicPartition]) -> None:
        self.story.revoked(generation_of(self.consumer), [tuple(one) for one in revoked])


def commit(consumer: KafkaConsumer, story: Story) -> None:
    offsets = dict(story.uncommitted)
    if not offsets:
        return
    wanted = {TopicPartition(*key): OffsetAndMetadata(offset, "", -1) for key, offset in offsets.items()}
    generation = generation_of(consumer)
    try:
        consumer.commit(wanted)
    except KafkaError as error:
        story.failed(generation, "commit", error)
        return
    story.committed(generation, offsets)


def records(polled: dict[Any, list[Any]]) -> list[tuple[str, int, int, str]]:
    return [(r.topic, r.partition, r.offset, r.value.decode()) for many in polled.values() for r in many]


def main() -> None:
    given, story, ended = orders(), Story(), end_of_input()
    consumer = KafkaConsumer(
        bootstrap_servers=given.bootstrap,
        group_id=given.group,
        group_instance_id=given.instance_id,
        partition_assignment_strategy=(ASSIGNORS[given.assignor],),
        session_timeout_ms=given.session_timeout_ms,
        heartbeat_interval_ms=given.heartbeat_interval_ms,
        max_poll_interval_ms=30_000,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=50,
        reconnect_backoff_max_ms=200,
    )
    consumer.subscribe(list(given.topics), listener=Listener(consumer, story))
    while not ended.is_set():
        # Returns with the first records. A poll that ends before a join has been answered loses the join for
        # good, with Apache Kafka too, so the time to wait without records must not be short.
        try:
            polled = consumer.poll(timeout_ms=1000, max_records=200)
        except (
            KafkaError
        ) as error:  # It raises when the coordinator refuses connections; it may be restarting.
            story.failed(generation_of(consumer), "poll", error)
            continue
        story.processed(generation_of(consumer), records(polled))
        commit(consumer, story)
    consumer.close(autocommit=False)
    story.closed()


if __name__ == "__main__":
    main()
