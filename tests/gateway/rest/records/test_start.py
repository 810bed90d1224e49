"""Where reading begins, for partitions whose leader comes and goes in the middle."""

from typing import Any

import pytest
from tests.cli.scripted_broker import scripted_cluster

from penstock.gateway.errors import GatewayError
from penstock.gateway.rest.records.start import found_offsets
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.topics import READ_COMMITTED

MOMENT = 5_000
NOBODY = -1


@pytest.mark.parametrize("second_leader", [1, NOBODY])
def test_reading_does_not_begin_at_the_end_because_nobody_knew_of_a_moment(second_leader: int) -> None:
    topics = {"orders": [1, second_leader]}

    def list_offsets(request: Any) -> ListOffsetsResponse:
        topics["orders"] = [1, 1]
        asked = request.topics[0].partitions
        found = tuple(
            ListOffsetsPartitionResponse(
                partition_index=each.partition_index, offset=40 if each.timestamp == MOMENT else 100
            )
            for each in asked
        )
        return ListOffsetsResponse(topics=(ListOffsetsTopicResponse(name="orders", partitions=found),))

    with scripted_cluster(topics=topics) as (broker,):
        broker.on(ApiKey.LIST_OFFSETS, list_offsets)
        with Cluster.connect([Address(broker.host, broker.port)]) as cluster:

            def find() -> Any:
                return found_offsets(cluster, "orders", [0, 1], moment=MOMENT, isolation_level=READ_COMMITTED)

            if second_leader == NOBODY:
                with pytest.raises(GatewayError, match="Nobody leads orders-1") as refused:
                    find()
                assert refused.value.status == 503
            else:
                assert find() == {0: 40, 1: 40}
