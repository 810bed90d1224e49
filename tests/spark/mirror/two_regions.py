"""What tests of mirrors write, read and run."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.client import Admin, Consumer, Message, Producer, TopicPartition
from penstock.spark.mirror.access import Access
from penstock.spark.mirror.mirroring import Mirror, MirrorPlan, Upkeep
from penstock.spark.mirror.naming import Selection
from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOPIC = "orders"
PARTITIONS = 2
SECONDS_MAX = 60


def plan(source: Broker, target: Broker) -> MirrorPlan:
    return MirrorPlan(
        source=Access(bootstrap_servers=source.bootstrap_servers),
        target=Access(bootstrap_servers=target.bootstrap_servers),
        selection=Selection(topic_pattern="ord.*", group_pattern="billing"),
        has_offset_header=True,
    )


def mirror_once(spark: "SparkSession", wishes: MirrorPlan, storage: str) -> Upkeep:
    """Copy what there is, and end."""
    with Mirror.connect(wishes) as mirror:
        mirror.keep_topics()
        query = mirror.start(spark, storage=storage, available_now=True)
        try:
            assert query.awaitTermination(SECONDS_MAX), f"still mirroring after {SECONDS_MAX} s"
        finally:
            mirror.stop(query)
        return mirror.keep_up()


def produce(broker: Broker, values: Iterable[str]) -> None:
    """Values in turn to all partitions, with a key, a header, and times long past."""
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        producer.send_batch(
            (
                TOPIC,
                value.encode(),
                b"key",
                [("trace", b"1")],
                number % PARTITIONS,
                1_700_000_000_000 + number,
            )
            for number, value in enumerate(values)
        )


def everything(broker: Broker) -> list[Message]:
    """All committed records of the topic, partition by partition."""
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        partitions = admin.partitions_of([TOPIC])
    found: list[Message] = []
    with Consumer(bootstrap_servers=broker.bootstrap_servers, isolation_level="read_committed") as consumer:
        consumer.assign(dict.fromkeys(partitions, 0))
        for message in consumer.messages(idle_timeout=1.5):
            found.append(message)
    return sorted(found, key=lambda message: (message.partition, message.offset))


def values_of(messages: Iterable[Message]) -> list[list[str]]:
    """In the order of each partition."""
    found: list[list[str]] = [[] for _ in range(PARTITIONS)]
    for message in messages:
        found[message.partition].append((message.raw_value or b"").decode())
    return found


def consume(broker: Broker, *, count: int) -> list[str]:
    """So many records as a member of the group, committed."""
    found: list[str] = []
    with Consumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id="billing",
        auto_offset_reset="none",
        enable_auto_commit=False,
    ) as consumer:
        consumer.subscribe([TOPIC])
        while len(found) < count:
            messages = consumer.poll(20.0, max_records=count - len(found))
            assert messages, f"only {len(found)} of {count} records came"
            found += [(message.raw_value or b"").decode() for message in messages]
        consumer.commit()
    return found


def begin_group(broker: Broker) -> None:
    """Let the group exist, at the beginning of all partitions."""
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        beginning = {TopicPartition(TOPIC, number): 0 for number in range(PARTITIONS)}
        admin.alter_group_offsets("billing", beginning)
