"""A topic analysed over the wire, from files and from its archive gives the same numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.archive.weeks import create_topic

from penstock.cli.storage.analysing import analyse_cluster
from penstock.cli.wire_session import connected
from penstock.spark.analysis import analyse, from_archive, from_brokers
from penstock.spark.archive import ArchiveTrigger, FileSettings, archive_topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TIME_MS = 1_769_846_400_000
PARTITIONS = 2
END_SECONDS_MAX = 120
OF_BATCHES = ("batches", "batch_bytes", "compression")
"""What an archive cannot know."""


@pytest.fixture(scope="module")
def topic(bootstrap: str) -> str:
    from confluent_kafka import Producer

    name = "analysed-over-the-wire"
    create_topic(bootstrap, name, partitions=PARTITIONS)
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": "lz4"})
    for number in range(60):
        text = b'{"type": "t%d", "text": "%s"}' % (number % 3, b"x" * number)
        producer.produce(
            name,
            partition=number % PARTITIONS,
            key=None if number % 7 == 0 else b"key-%d" % (number % 5),
            value=None if number % 11 == 0 else text,
            timestamp=TIME_MS + number,
            headers=[("trace", b"%d" % number), ("none", None)] if number % 2 else [],
        )
    assert producer.flush(30) == 0
    return name


@pytest.fixture(scope="module")
def plain(bootstrap: str, topic: str) -> dict[str, Any]:
    with connected(bootstrap) as cluster:
        (found,) = analyse_cluster(cluster, [topic], internal=False)
    return found.as_json(top_max=10)


def test_brokers_give_the_same_numbers_as_without_spark(
    spark: "SparkSession", bootstrap: str, topic: str, plain: dict[str, Any]
) -> None:
    source = from_brokers(spark, [topic], options={"kafka.bootstrap.servers": bootstrap})
    (told,) = (report.as_json(top_max=10) for report in analyse(source))

    assert {name: told[name] for name in plain} == plain
    assert {each["type"]: each["messages"] for each in told["types"]} == {"t0": 18, "t1": 18, "t2": 18}


def test_an_archive_gives_the_same_numbers_but_for_batches(
    spark: "SparkSession", bootstrap: str, topic: str, plain: dict[str, Any], tmp_path: Path
) -> None:
    path = str(tmp_path / "archive")
    query = archive_topics(
        spark,
        path,
        options={"kafka.bootstrap.servers": bootstrap, "subscribe": topic},
        settings=FileSettings(tasks_max=1),
        trigger=ArchiveTrigger(available_now=True),
    )
    assert query.awaitTermination(END_SECONDS_MAX)
    (told,) = (report.as_json(top_max=10) for report in analyse(from_archive(spark, path)))

    assert {name: told[name] for name in plain if name not in (*OF_BATCHES, "partitions")} == {
        name: plain[name] for name in plain if name not in (*OF_BATCHES, "partitions")
    }
    for mine, theirs in zip(told["partitions"], plain["partitions"], strict=True):
        assert {name: mine[name] for name in theirs if name not in OF_BATCHES} == {
            name: theirs[name] for name in theirs if name not in OF_BATCHES
        }
    assert told["batches"] == 0
