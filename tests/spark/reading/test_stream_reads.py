"""Topics as streams of a real Spark: every record once over restarts, losses that stop a query, and lag."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.spark.conftest import run_to_end
from tests.spark.reading.some_topics import add_partitions, delete_records, numbered, produce

from penstock.model.ids import TopicPartition
from penstock.spark.progress import SourceLag, source_lags
from penstock.testing import Broker
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.group_offsets import stable_offset
from penstock.wire_client.known_coordinators import KnownCoordinators

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

pytestmark = pytest.mark.spark


class Collector:
    """A query that puts the values of every micro-batch into a list."""

    def __init__(self, spark: "SparkSession", broker: Broker, topic: str, checkpoint: str) -> None:
        self._spark = spark
        self._broker = broker
        self._topic = topic
        self._checkpoint = checkpoint
        self.batches: list[list[bytes]] = []
        self.fails_at: int | None = None

    @property
    def values(self) -> list[bytes]:
        return [value for batch in self.batches for value in batch]

    def writer(self, **options: str) -> "DataStreamWriter":
        source = self._spark.readStream.format("penstock").schema("value binary, offset bigint")
        given = {
            "kafka.bootstrap.servers": self._broker.bootstrap_servers,
            "subscribe": self._topic,
            "startingOffsets": "earliest",
            **options,
        }
        writer = source.options(**given).load().writeStream
        return writer.foreachBatch(self._collect).option("checkpointLocation", self._checkpoint)

    def run(self, **options: str) -> "StreamingQuery":
        return run_to_end(self.writer(**options))

    def _collect(self, frame: "DataFrame", number: int) -> None:
        values = [row.value for row in frame.orderBy("offset").collect()]
        if number == self.fails_at:
            raise RuntimeError("the sink failed")
        self.batches.append(values)


@pytest.fixture
def topic(penstock_broker: Broker) -> str:
    name = penstock_broker.create_topic()
    produce(penstock_broker.bootstrap_servers, name, numbered(100))
    return name


@pytest.fixture
def collector(spark: "SparkSession", penstock_broker: Broker, topic: str, checkpoint: str) -> Collector:
    return Collector(spark, penstock_broker, topic, checkpoint)


def committed(broker: Broker, group: str, partition: TopicPartition) -> int | None:
    host, _, port = broker.bootstrap_servers.partition(":")
    with Cluster.connect([Address(host, int(port))]) as cluster:
        found = stable_offset(KnownCoordinators(cluster), group, partition)
    return None if found is None else found.offset


def last_lag(query: "StreamingQuery") -> SourceLag:
    progress = query.lastProgress
    assert progress is not None
    (lag,) = source_lags(progress.json)
    assert lag is not None
    return lag


def test_every_record_is_read_once_over_restarts_within_the_limit(
    penstock_broker: Broker, collector: Collector, topic: str
) -> None:
    first = collector.run(maxOffsetsPerTrigger="40")
    assert [len(batch) for batch in collector.batches] == [40, 40, 20]
    lag = last_lag(first)
    assert lag.group_id is not None
    assert committed(penstock_broker, lag.group_id, TopicPartition(topic, 0)) == 100

    add_partitions(penstock_broker.bootstrap_servers, topic, 2)
    produce(penstock_broker.bootstrap_servers, topic, numbered(30, 100))
    produce(penstock_broker.bootstrap_servers, topic, numbered(20, 130), partition=1)
    second = collector.run()

    assert sorted(collector.values) == numbered(150)
    assert last_lag(second).total == 0
    assert last_lag(second).group_id == lag.group_id
    assert committed(penstock_broker, lag.group_id, TopicPartition(topic, 1)) == 20


def test_batch_that_failed_is_read_again_as_it_was(
    penstock_broker: Broker, collector: Collector, topic: str
) -> None:
    collector.fails_at = 1
    with pytest.raises(Exception, match="the sink failed"):
        collector.run(maxOffsetsPerTrigger="60", groupId=f"followers-of-{topic}")
    assert collector.values == numbered(60)
    assert committed(penstock_broker, f"followers-of-{topic}", TopicPartition(topic, 0)) == 60
    produce(penstock_broker.bootstrap_servers, topic, numbered(50, 100))

    collector.fails_at = None
    collector.run(groupId=f"followers-of-{topic}")

    assert [len(batch) for batch in collector.batches] == [60, 40, 50]
    assert collector.values == numbered(150)
    assert committed(penstock_broker, f"followers-of-{topic}", TopicPartition(topic, 0)) == 150


def test_query_that_began_before_the_end_goes_on_from_there_after_a_crash_in_its_first_records(
    penstock_broker: Broker, collector: Collector, topic: str
) -> None:
    collector.fails_at = 1
    with pytest.raises(Exception, match="the sink failed"):
        collector.run(startingOffsets="-30 records")
    produce(penstock_broker.bootstrap_servers, topic, numbered(50, 100))

    collector.fails_at = None
    collector.run(startingOffsets="-30 records")

    assert collector.batches == [[], numbered(30, 70), numbered(50, 100)]


def test_query_that_begins_before_the_end_reads_all_of_it_with_a_single_trigger(
    collector: Collector,
) -> None:
    query = collector.writer(startingOffsets="-30 records").trigger(once=True).start()
    try:
        assert query.awaitTermination(60)
    finally:
        query.stop()

    assert collector.batches == [numbered(30, 70)]


def test_topic_made_anew_between_two_runs_stops_the_query_unless_told_otherwise(
    penstock_broker: Broker, collector: Collector, topic: str
) -> None:
    collector.run()
    penstock_broker.delete_topic(topic)
    penstock_broker.create_topic(topic)
    produce(penstock_broker.bootstrap_servers, topic, numbered(120, 1000))

    with pytest.raises(Exception, match=f"Records of {topic}-0 from offset 100 on were gone .* made anew"):
        collector.run()
    assert len(collector.values) == 100
    collector.run(onDataLoss="report")
    assert collector.values == numbered(100) + numbered(120, 1000)


def test_records_removed_between_two_runs_stop_the_query_unless_told_otherwise(
    penstock_broker: Broker, collector: Collector, topic: str
) -> None:
    collector.run()
    produce(penstock_broker.bootstrap_servers, topic, numbered(100, 100))
    delete_records(penstock_broker.bootstrap_servers, topic, 150)

    with pytest.raises(Exception, match=f"Records of {topic}-0 with offsets 100 to 149 were gone"):
        collector.run()
    collector.run(failOnDataLoss="false")
    assert collector.values == numbered(100) + numbered(50, 150)


def test_stream_without_end_reads_what_comes_and_reports_its_lag(
    penstock_broker: Broker, collector: Collector, topic: str
) -> None:
    query = collector.writer(startingOffsets="latest").trigger(processingTime="0 seconds").start()
    try:
        _wait(lambda: query.status["message"] == "Waiting for data to arrive" or bool(query.exception()))
        produce(penstock_broker.bootstrap_servers, topic, numbered(30, 100))
        _wait(lambda: len(collector.values) == 30)
        _wait(lambda: query.lastProgress is not None)
        lag = last_lag(query)
        assert lag.group_id is not None
        group = lag.group_id
        _wait(lambda: committed(penstock_broker, group, TopicPartition(topic, 0)) == 130)
    finally:
        query.stop()

    assert collector.values == numbered(30, 100)
    assert lag.total == 0


def test_end_of_a_stream_is_refused(collector: Collector) -> None:
    with pytest.raises(Exception, match="endingOffsets is one of batch read, not of stream read"):
        collector.run(endingOffsets="latest")


def _wait(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)
