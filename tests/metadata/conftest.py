"""A small cluster to decide on: brokers 1 (rack a), 2 (rack b) and 3 (fenced), and topic ``orders``."""

from collections.abc import Callable
from itertools import count

import pytest

from penstock.config.broker_config import BrokerConfig
from penstock.config.sources import load_broker_config
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    BrokerEndpoint,
    ConfigRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from penstock.model.ids import TopicId

ORDERS = TopicId(b"orders" + bytes(10))


def make_broker(node_id: int, *, rack: str | None = None, fenced: bool = False) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=node_id,
        broker_epoch=10 + node_id,
        end_points=(BrokerEndpoint(name="PLAINTEXT", host=f"host{node_id}", port=9000 + node_id),),
        rack=rack,
        fenced=fenced,
        log_dirs=(bytes([node_id]) * 16,),
    )


@pytest.fixture
def image() -> ClusterImage:
    return ClusterImage().apply(
        [
            make_broker(1, rack="a"),
            make_broker(2, rack="b"),
            make_broker(3, fenced=True),
            TopicRecord(name="orders", topic_id=ORDERS),
            ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value="1000"),
            *(
                PartitionRecord(
                    partition_id=index,
                    topic_id=ORDERS,
                    replicas=(1, 2),
                    isr=(1, 2),
                    leader=1,
                    leader_epoch=4,
                    partition_epoch=4,
                    directories=(bytes([1]) * 16, bytes([2]) * 16),
                )
                for index in range(2)
            ),
        ]
    )


@pytest.fixture
def config() -> BrokerConfig:
    return load_broker_config(
        flags={"node.id": "1", "num.partitions": "2", "default.replication.factor": "2"}
    )


@pytest.fixture
def new_id() -> Callable[[], bytes]:
    numbers = count(1)
    return lambda: next(numbers).to_bytes(16, "big")
