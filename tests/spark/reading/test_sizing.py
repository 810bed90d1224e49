"""Tasks of a good size: by records, and by bytes where a broker tells them."""

import pytest
from tests.spark.reading.conftest import MakeOptions
from tests.spark.reading.some_topics import delete_records, produce

from penstock.spark.reading import sizing
from penstock.spark.reading.planning import plan_batch
from penstock.spark.reading.sizing import ASKED_FROM_RECORDS, tasks_of
from penstock.testing import Broker


@pytest.fixture
def topic(penstock_broker: Broker) -> str:
    """Partition 0 has twice as many records as are needed to ask for its size, of 30 bytes or so each."""
    name = penstock_broker.create_topic(partitions=2)
    produce(penstock_broker.bootstrap_servers, name, [bytes(20)] * (2 * ASKED_FROM_RECORDS))
    produce(penstock_broker.bootstrap_servers, name, [bytes(20)] * 10, partition=1)
    return name


def sizes(options_of: MakeOptions, topic: str, **given: str) -> list[int]:
    options = options_of(topic, **given)
    return [sum(one.size for one in pack) for pack in tasks_of(plan_batch(options), options)]


def test_partition_is_cut_by_its_bytes(batch: MakeOptions, topic: str) -> None:
    assert sizes(batch, topic) == [20_000, 10]

    by_bytes = sizes(batch, topic, maxBytesPerPartition="140000")

    assert 4 <= len(by_bytes[:-1]) <= 6
    assert sum(by_bytes) == 20_010


def test_what_was_removed_and_is_still_on_the_disk_makes_no_small_tasks(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    options = batch(topic, maxBytesPerPartition="140000")
    planned = plan_batch(options)
    delete_records(penstock_broker.bootstrap_servers, topic, 19_990)

    assert 5 <= len(tasks_of(planned, options)) <= 7


def test_bytes_cut_no_partition_into_more_pieces_than_spark_is_good_at(
    batch: MakeOptions, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizing, "PIECES_BY_BYTES_MAX", 30)

    assert len(sizes(batch, topic, maxBytesPerPartition="1")) == 30 + 1


def test_partition_is_cut_by_its_records(batch: MakeOptions, topic: str) -> None:
    assert sizes(batch, topic, maxRecordsPerPartition="5000") == [5_000] * 4 + [10]


def test_partition_of_a_broker_that_does_not_tell_is_cut_by_its_records(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    penstock_broker.faults.drop("DescribeLogDirs")
    assert sizes(batch, topic, maxBytesPerPartition="1000") == [20_000, 10]


def test_small_ranges_are_not_worth_a_question(
    penstock_broker: Broker, batch: MakeOptions, topic: str
) -> None:
    penstock_broker.requests.clear()
    sizes(batch, topic, endingOffsets=f'{{"{topic}":{{"0":9999,"1":-1}}}}', maxBytesPerPartition="1")

    assert penstock_broker.requests.of("DescribeLogDirs") == []
