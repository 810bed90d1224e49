"""What planning asks of a leader that goes away; scripted brokers, since real ones are soon back."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.scripted_broker import ScriptedBroker, metadata, scripted_cluster
from tests.spark.reading.conftest import QUICK

from penstock.model.ids import TopicPartition
from penstock.spark.offsets.pushdown import EVERYTHING, Bounds
from penstock.spark.options.source_options import batch_options
from penstock.spark.reading.clusters import close_kept_clusters
from penstock.spark.reading.lookup import LeaderlessError
from penstock.spark.reading.planning import plan_batch
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

OFFSETS = {EARLIEST_TIMESTAMP: 0, LATEST_TIMESTAMP: 100}
AT_TIME = 40
FOR_GOOD = 10_000


class Orders:
    """A partition of offsets 0 to 99 whose leader goes away when it has told where it begins and ends."""

    def __init__(self, broker: ScriptedBroker, topics: dict[str, list[int]]) -> None:
        self.bootstrap = broker.bootstrap
        self.times_away = 1
        self._topics = topics
        self._broker = broker
        broker.on(ApiKey.LIST_OFFSETS, self._list_offsets)
        broker.on(ApiKey.METADATA, self._tell_leader)

    def _list_offsets(self, request: Any) -> ListOffsetsResponse:
        time = request.topics[0].partitions[0].timestamp
        if time == LATEST_TIMESTAMP:
            self._topics["orders"] = [-1]
        found = ListOffsetsPartitionResponse(partition_index=0, offset=OFFSETS.get(time, AT_TIME))
        return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name="orders", partitions=(found,)),))

    def _tell_leader(self, request: Any) -> Any:
        answer = metadata([self._broker], self._topics, request)
        if self._topics["orders"] == [-1] and request.topics:
            self.times_away -= 1
            if not self.times_away:
                self._topics["orders"] = [1]
        return answer


@pytest.fixture
def orders() -> Iterator[Orders]:
    topics = {"orders": [1]}
    with scripted_cluster(topics=topics) as (broker,):
        yield Orders(broker, topics)
        close_kept_clusters()


def planned(orders: Orders, given: dict[str, str], bounds: Bounds = EVERYTHING) -> tuple[int, int]:
    named = {"kafka.bootstrap.servers": orders.bootstrap, "subscribe": "orders", **QUICK, **given}
    (one,) = plan_batch(batch_options(named), bounds)
    return one.start, one.end


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"endingTimestamp": "5000"}, (0, AT_TIME)),
        ({"startingTimestamp": "5000"}, (AT_TIME, 100)),
        ({"startingTimestamp": "5000", "startingOffsetsByTimestampStrategy": "latest"}, (AT_TIME, 100)),
        ({"startingOffsets": "-10 minutes"}, (AT_TIME, 100)),
    ],
)
def test_times_are_looked_up_when_somebody_leads_again(
    orders: Orders, given: dict[str, str], expected: tuple[int, int]
) -> None:
    """Nobody to tell is not the same as no record as late as that."""
    assert planned(orders, given) == expected


def test_filter_by_time_leaves_out_nothing_of_a_partition_without_a_leader(orders: Orders) -> None:
    assert planned(orders, {}, Bounds(timestamp_min_ms=5000)) == (AT_TIME, 100)


def test_time_in_a_partition_that_nobody_leads_for_long_is_an_error(orders: Orders) -> None:
    orders.times_away = FOR_GOOD

    with pytest.raises(LeaderlessError, match=f"{TopicPartition('orders', 0)} has no leader"):
        planned(orders, {"endingTimestamp": "5000", "kafka.default.api.timeout.ms": "50"})
