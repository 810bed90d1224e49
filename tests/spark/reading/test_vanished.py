"""What became of records that a broker did not give: gone, or there for others to see."""

from collections.abc import Iterator

import pytest
from tests.spark.reading.conftest import MakeOptions
from tests.spark.reading.some_topics import delete_records, numbered, open_transaction, produce

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.ranges import OffsetRange
from penstock.spark.reading.data_loss import Cause
from penstock.spark.reading.lookup import Lookup
from penstock.spark.reading.vanished import find_loss, find_missing_end
from penstock.testing import Broker


@pytest.fixture
def topic(penstock_broker: Broker) -> Iterator[str]:
    """Ten records, and five more of a transaction that is open."""
    name = penstock_broker.create_topic()
    produce(penstock_broker.bootstrap_servers, name, numbered(10))
    with open_transaction(penstock_broker.bootstrap_servers, name, numbered(5)):
        yield name


@pytest.fixture(params=["read_committed", "read_uncommitted"])
def lookup(request: pytest.FixtureRequest, stream: MakeOptions, topic: str) -> Lookup:
    return Lookup(stream(topic, **{"kafka.isolation.level": request.param}))


def wanted(topic: str, start: int, end: int) -> OffsetRange:
    return OffsetRange(partition=TopicPartition(topic, 0), start=start, end=end)


def test_what_a_transaction_is_open_for_is_not_gone(lookup: Lookup, topic: str) -> None:
    assert find_loss(lookup, wanted(topic, 15, 20)) is None
    assert find_missing_end(lookup, wanted(topic, 5, 15)) is None


def test_what_lies_behind_the_last_record_is_gone(lookup: Lookup, topic: str) -> None:
    beyond, too_long = wanted(topic, 16, 20), wanted(topic, 5, 16)
    losses = [find_loss(lookup, beyond), find_missing_end(lookup, too_long)]

    assert [(loss.start, loss.end, loss.cause) for loss in losses if loss is not None] == [
        (16, 20, Cause.TRUNCATED),
        (5, 16, Cause.TRUNCATED),
    ]


def test_what_was_removed_is_gone(penstock_broker: Broker, lookup: Lookup, topic: str) -> None:
    delete_records(penstock_broker.bootstrap_servers, topic, 7)

    loss = find_loss(lookup, wanted(topic, 5, 9))
    assert loss is not None
    assert (loss.start, loss.end, loss.cause) == (5, 7, Cause.REMOVED)
