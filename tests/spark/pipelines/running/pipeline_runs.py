"""Pipelines run by tests: in the session that all tests share, over topics of a real broker."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.spark.pipelines.loading import load_pipeline
from penstock.spark.pipelines.model import Trigger, TriggerKind
from penstock.spark.pipelines.running.events import Event, FlowProgressed, RecordsLeft
from penstock.spark.pipelines.running.runner import Outcome, Runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS_MAX = 60.0


class Record(NamedTuple):
    """A record as tests compare it."""

    key: str | None
    value: str | None
    headers: dict[str, str]

    def json(self) -> Any:
        assert self.value is not None
        return json.loads(self.value)


class Topics:
    """Topics of one broker, written and read whole."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._producer = Producer({"bootstrap.servers": bootstrap})
        self._admin = AdminClient({"bootstrap.servers": bootstrap})

    def create(self, *names: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        made = [
            NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(config or {}))
            for name in names
        ]
        for future in self._admin.create_topics(made).values():
            future.result(SECONDS_MAX)

    def put(self, topic: str, values: Iterable[Any], *, key: str = "") -> None:
        """Write values, objects as JSON; ``key`` is the name of the field that is the key."""
        for value in values:
            record_key = str(value[key]) if key else None
            text = value if isinstance(value, str | bytes) else json.dumps(value)
            self._producer.produce(topic, key=record_key, value=text)
        assert self._producer.flush(SECONDS_MAX) == 0

    def put_keyed(self, topic: str, records: Iterable[tuple[str, str | None]]) -> None:
        for key, value in records:
            self._producer.produce(topic, key=key, value=value)
        assert self._producer.flush(SECONDS_MAX) == 0

    def read(self, topic: str) -> list[Record]:
        """Everything committed in a topic, partition by partition."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "reading",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        try:
            return [
                record
                for number in sorted(
                    consumer.list_topics(topic, timeout=SECONDS_MAX).topics[topic].partitions
                )
                for record in self._partition(consumer, TopicPartition(topic, number, 0))
            ]
        finally:
            consumer.close()

    def _partition(self, consumer: Consumer, partition: TopicPartition) -> list[Record]:
        consumer.assign([partition])
        found: list[Record] = []
        while True:
            message = consumer.poll(SECONDS_MAX)
            assert message is not None, f"no end of {partition} within {SECONDS_MAX} s"
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                return found
            headers = {name: value.decode() for name, value in message.headers() or ()}
            found.append(Record(_text(message.key()), _text(message.value()), headers))


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode()


class Ran(NamedTuple):
    """A run that is over."""

    outcome: Outcome
    events: list[Event]

    def rows(self, flow: str) -> int:
        """How many rows a flow read."""
        reports = [event.progress for event in self.events if isinstance(event, FlowProgressed)]
        return sum(report.rows for report in reports if report.flow == flow)

    def left(self) -> dict[str, int]:
        """How many records went to the topics of side outputs."""
        counts: dict[str, int] = {}
        for event in self.events:
            if isinstance(event, RecordsLeft):
                counts[event.topic] = counts.get(event.topic, 0) + event.count
        return counts


def run_pipeline(spark: "SparkSession", file: Path, bootstrap: str, *, must_succeed: bool = True) -> Ran:
    """Run what there is now to its end."""
    events: list[Event] = []
    runner = Runner(
        spark,
        load_pipeline(file),
        topic_options={"kafka.bootstrap.servers": bootstrap},
        listener=events.append,
        trigger=Trigger(TriggerKind.AVAILABLE_NOW),
    )
    outcome = runner.run()
    assert not (must_succeed and outcome.failures), outcome.failures
    return Ran(outcome, events)
