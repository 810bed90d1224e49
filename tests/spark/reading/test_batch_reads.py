"""Topics as tables of a real Spark: columns, projection, filters, splits, and errors before anything runs."""

from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.reading.some_topics import numbered, produce, write_in_transaction

from penstock.testing import Broker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def topic(penstock_broker: Broker) -> str:
    """Partition 0 has offsets 0 to 9 with timestamps 1000 to 1009, partition 1 has 0 to 4 with 2000."""
    name = penstock_broker.create_topic(partitions=2)
    for number, value in enumerate(numbered(10)):
        produce(penstock_broker.bootstrap_servers, name, [value], timestamp=1000 + number)
    produce(penstock_broker.bootstrap_servers, name, numbered(5, 10), partition=1, timestamp=2000)
    return name


def read(spark: "SparkSession", broker: Broker, topic: str, schema: str = "", **options: str) -> "DataFrame":
    reader = spark.read.format("penstock").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    reader = reader.schema(schema) if schema else reader
    return reader.options(**{"subscribe": topic, **options}).load()


def test_every_column_is_what_was_written(spark: "SparkSession", penstock_broker: Broker) -> None:
    topic = penstock_broker.create_topic()
    headers = [("trace", b"1"), ("trace", None)]
    produce(
        penstock_broker.bootstrap_servers,
        topic,
        ["grün".encode()],
        key=b"k",
        headers=headers,
        timestamp=1_700_000_000_123,
        settings={"compression.type": "zstd"},
    )
    produce(penstock_broker.bootstrap_servers, topic, [None])
    write_in_transaction(penstock_broker.bootstrap_servers, topic, [b"aborted"], commits=False)

    frame = read(
        spark,
        penstock_broker,
        topic,
        includeHeaders="true",
        **{"kafka.isolation.level": "read_committed"},
    )
    first, second = frame.selectExpr("*", "cast(value as string) text", "unix_millis(timestamp) ms").collect()

    assert frame.columns == [
        *("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
    ]
    assert (first.key, first.text, first.topic) == (b"k", "grün", topic)
    assert (first.partition, first.offset, first.timestampType) == (0, 0, 0)
    assert first.ms == 1_700_000_000_123
    assert [tuple(header) for header in first.headers] == headers
    assert (second.key, second.value, second.headers, second.offset) == (None, None, None, 1)


def test_columns_are_those_of_the_connector_unless_headers_are_asked_for(
    spark: "SparkSession", penstock_broker: Broker, topic: str
) -> None:
    assert read(spark, penstock_broker, topic).schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,"
        "timestamp:timestamp,timestampType:int>"
    )


def test_schema_with_fewer_columns_gives_only_those(
    spark: "SparkSession", penstock_broker: Broker, topic: str
) -> None:
    frame = read(spark, penstock_broker, topic, "offset bigint, value binary")

    assert frame.columns == ["offset", "value"]
    assert sorted(row.value for row in frame.collect()) == numbered(15)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("payload binary", "The schema has a column 'payload'"),
        ("value string", "write value BINARY"),
    ],
)
def test_schema_of_another_table_is_refused(
    spark: "SparkSession", penstock_broker: Broker, topic: str, schema: str, message: str
) -> None:
    with pytest.raises(Exception, match=message):
        read(spark, penstock_broker, topic, schema).count()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscrib": "t"}, "There is no option 'subscrib'. Did you mean subscribe"),
        ({"startingOffsets": "sometimes"}, "Option startingOffsets is 'sometimes'"),
        ({"assign": '{"t":[0]}'}, "subscribe and assign exclude each other"),
        ({"kafka.auto.offset.reset": "earliest"}, "Option kafka.auto.offset.reset cannot be used"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_options_fail_before_anything_runs(
    spark: "SparkSession", penstock_broker: Broker, options: dict[str, str], message: str
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match=message):
        read(spark, penstock_broker, "t", **options)


def test_large_partitions_become_several_tasks(
    spark: "SparkSession", penstock_broker: Broker, topic: str
) -> None:
    def tasks(**options: str) -> int:
        return read(spark, penstock_broker, topic, "value binary", **options).rdd.getNumPartitions()

    assert tasks() == 1
    assert tasks(maxRecordsPerPartition="4") == 5
    assert tasks(minPartitions="6") == 6
    assert read(spark, penstock_broker, topic, minPartitions="6").count() == 15


def test_table_without_rows_is_empty(spark: "SparkSession", penstock_broker: Broker) -> None:
    assert read(spark, penstock_broker, penstock_broker.create_topic()).collect() == []


FILTERS: list[tuple[str, int]] = [
    ("partition = 1", 5),
    ("partition in (0, 1) and offset >= 3", 9),
    ("offset between 2 and 4", 6),
    ("offset = 7", 1),
    ("topic = 'another'", 0),
    ("timestamp >= timestamp_millis(1008)", 7),
    ("timestamp < timestamp_millis(1003)", 3),
    ("timestamp > timestamp_millis(1008) and partition = 0 and value is not null", 1),
    ("partition <> 0", 5),
]


@pytest.mark.parametrize("is_enabled", [False, True], ids=["without pushdown", "with pushdown"])
def test_filters_give_the_same_rows_with_and_without_pushdown(
    spark: "SparkSession", penstock_broker: Broker, topic: str, is_enabled: bool
) -> None:
    conf: Any = spark.conf
    before = conf.get("spark.sql.python.filterPushdown.enabled")
    conf.set("spark.sql.python.filterPushdown.enabled", str(is_enabled).lower())
    try:
        counts = {
            text: read(spark, penstock_broker, topic).where(text).count()
            for text, _ in (FILTERS if is_enabled else FILTERS[:2])
        }
        in_fives = read(spark, penstock_broker, topic, maxRecordsPerPartition="5")
        tasks = in_fives.where("partition = 1").rdd.getNumPartitions()
    finally:
        conf.set("spark.sql.python.filterPushdown.enabled", before)

    assert counts == dict(FILTERS if is_enabled else FILTERS[:2])
    assert tasks == (1 if is_enabled else 3)


def test_topic_is_a_view_of_sql(spark: "SparkSession", penstock_broker: Broker, topic: str) -> None:
    spark.sql(
        "create or replace temporary view a_topic using penstock options "
        f"(`kafka.bootstrap.servers` '{penstock_broker.bootstrap_servers}', subscribe '{topic}')"
    )
    assert spark.sql("select max(offset) m from a_topic").collect()[0].m == 9
