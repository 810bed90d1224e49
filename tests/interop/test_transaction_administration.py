"""People who look after transactions, with the admin client of kafka-python: look, and end what hangs."""

import asyncio
from collections.abc import Iterator

import pytest
from kafka import TopicPartition
from kafka.admin import AbortTransactionSpec, KafkaAdminClient
from tests.broker.transactions.producer_client import Producer, connected, read
from tests.conftest import MakeServer
from tests.raw_kafka import Connection

pytestmark = pytest.mark.interop

TOPIC = "orders"
NAME = "payments"


@pytest.fixture
def bootstrap(make_server: MakeServer) -> str:
    """A broker that does not verify: a late batch can hang a transaction, as it could before KIP-890."""
    server = make_server({"transaction.partition.verification.enable": "false"}, is_alone=True)
    with Connection(server.bootstrap) as connection:
        assert connection.create_topic(TOPIC, replicas=1) == 0
    return server.bootstrap


@pytest.fixture
def admin(bootstrap: str) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=bootstrap)
    yield client
    client.close()


def test_open_transaction_is_listed_and_described(bootstrap: str, admin: KafkaAdminClient) -> None:
    producer = asyncio.run(leave_open(bootstrap))
    for filters in ({}, {"state_filters": ["Ongoing"]}, {"transactional_id_pattern": "pay.*"}):
        ((found,),) = admin.list_transactions(**filters).values()
        assert (found.transactional_id, found.producer_id) == (NAME, producer.producer_id)
    assert list(admin.list_transactions(state_filters=["Empty"]).values()) == [[]]
    described = admin.describe_transactions([NAME])[NAME]
    assert described.state.value == "Ongoing"
    assert (described.producer_id, described.producer_epoch) == (producer.producer_id, producer.epoch)
    assert set(described.topic_partitions) == {TopicPartition(TOPIC, 0)}


def test_hanging_transaction_is_aborted(bootstrap: str, admin: KafkaAdminClient) -> None:
    asyncio.run(leave_hanging(bootstrap))
    partition = TopicPartition(TOPIC, 0)
    (found,) = admin.describe_producers([partition])[partition].active_producers
    assert found.current_transaction_start_offset == 2
    admin.abort_transaction(
        AbortTransactionSpec(
            topic_partition=partition,
            producer_id=found.producer_id,
            producer_epoch=found.producer_epoch,
            coordinator_epoch=found.coordinator_epoch,
        )
    )
    assert asyncio.run(committed(bootstrap)) == ([b"in time"], 4)


async def leave_open(bootstrap: str) -> Producer:
    async with connected(bootstrap) as client:
        producer = Producer(client, NAME)
        assert await producer.init() == 0
        assert await producer.add(TOPIC) == 0
        assert await producer.produce(b"in time", topic=TOPIC) == 0
        return producer


async def leave_hanging(bootstrap: str) -> None:
    """Commit, then send one more batch of the transaction that is over."""
    producer = await leave_open(bootstrap)
    async with connected(bootstrap) as client:
        producer.client = client
        assert await producer.end() == 0
        while (await read(client, TOPIC)).last_stable_offset < 2:
            await asyncio.sleep(0.005)
        assert await producer.produce(b"late", topic=TOPIC) == 0


async def committed(bootstrap: str) -> tuple[list[bytes | None], int]:
    async with connected(bootstrap) as client:
        found = await read(client, TOPIC)
        return found.values, found.last_stable_offset
