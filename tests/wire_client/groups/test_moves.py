"""What a target means for partitions whose leader goes away in the middle."""

from typing import Any

import pytest
from tests.cli.scripted_broker import scripted_cluster

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.groups.moves import UnknownRangeError, plan_moves
from penstock.wire_client.groups.reset_target import Reference, Target

ORDERS = TopicPartition("orders", 0)
OFFSETS = {EARLIEST_TIMESTAMP: 0, LATEST_TIMESTAMP: 100}
AT_TIME = Target(Reference.TIMESTAMP, 5_000)


@pytest.mark.parametrize("stays", [True, False])
def test_group_is_not_moved_to_the_end_because_nobody_knows_of_a_time(stays: bool) -> None:
    topics = {"orders": [1]}

    def list_offsets(request: Any) -> ListOffsetsResponse:
        time = request.topics[0].partitions[0].timestamp
        if time == LATEST_TIMESTAMP and not stays:
            topics["orders"] = [-1]
        found = ListOffsetsPartitionResponse(partition_index=0, offset=OFFSETS.get(time, 40))
        return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name="orders", partitions=(found,)),))

    with scripted_cluster(topics=topics) as (broker,):
        broker.on(ApiKey.LIST_OFFSETS, list_offsets)
        with Cluster.connect([Address(broker.host, broker.port)]) as cluster:
            if stays:
                assert [move.new for move in plan_moves(cluster, [ORDERS], {}, AT_TIME)] == [40]
            else:
                with pytest.raises(UnknownRangeError, match="orders-0 cannot be looked up"):
                    plan_moves(cluster, [ORDERS], {}, AT_TIME)
