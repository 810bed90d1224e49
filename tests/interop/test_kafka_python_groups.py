"""kafka-python alone in a group: positions, commits, replay and resets."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition, errors
from tests.broker_process import wait_until
from tests.conftest import UniqueName
from tests.interop.confluent import make_producer, send
from tests.interop.conftest import MakeTopic

pytestmark = [
    pytest.mark.interop,
    # The client reads further message definitions when it first needs them.
    pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning"),
]

FIRST_TIMESTAMP = 1_600_000_000_000


@pytest.fixture
def partition(lively: str, make_topic: MakeTopic) -> TopicPartition:
    """Ten records in it, a second apart."""
    ((name, _),) = make_topic(1)
    send(
        make_producer(lively),
        name,
        [{"value": b"%d" % n, "partition": 0, "timestamp": FIRST_TIMESTAMP + 1000 * n} for n in range(10)],
    )
    return TopicPartition(name, 0)


@contextmanager
def joined(bootstrap: str, group: str, topic: str, **settings: Any) -> Iterator[KafkaConsumer]:
    """A consumer that has subscribed to the topic."""
    client = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        **{
            "session_timeout_ms": 6000,
            "heartbeat_interval_ms": 500,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "fetch_max_wait_ms": 50,
            **settings,
        },
    )
    try:
        yield client
    finally:
        client.close()


def read(client: KafkaConsumer, count: int, *, seconds: float = 20) -> list[Any]:
    """The next so many records, and no more taken than these."""
    found: list[Any] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        for many in client.poll(timeout_ms=2000, max_records=count - len(found)).values():
            found += many
    assert len(found) == count, f"read {len(found)} of {count} records"
    return found


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


def test_synchronous_commit_is_where_the_next_consumer_begins(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    group = unique("group")
    with joined(lively, group, partition.topic) as client:
        assert offsets(read(client, 10)) == list(range(10))
        client.commit({partition: OffsetAndMetadata(4, "half way", -1)})
        assert client.committed(partition) == 4
        found = client.committed(partition, metadata=True)
        assert (found.offset, found.metadata) == (4, "half way")

    with joined(lively, group, partition.topic) as client:
        assert offsets(read(client, 6)) == [4, 5, 6, 7, 8, 9]


def test_asynchronous_commit_reports_through_its_callback(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    reports: list[Any] = []
    with joined(lively, unique("group"), partition.topic) as client:
        read(client, 7)
        client.commit_async(callback=lambda *report: reports.append(report))
        wait_until(lambda: client.poll(timeout_ms=50) is None or reports, what="the report of the commit")
        ((asked, outcome),) = reports
        assert asked[partition].offset == 7
        assert not isinstance(outcome, Exception)
        assert client.committed(partition) == 7


def test_automatic_commit_happens_on_close(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    group = unique("group")
    with joined(lively, group, partition.topic, enable_auto_commit=True) as client:
        read(client, 3)
    with joined(lively, group, partition.topic) as client:
        assert offsets(read(client, 7)) == [3, 4, 5, 6, 7, 8, 9]


def test_paused_partition_is_silent_until_it_is_resumed(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    with joined(lively, unique("group"), partition.topic) as client:
        read(client, 10)
        client.pause(partition)
        send(make_producer(lively), partition.topic, [{"value": b"late", "partition": 0}])
        assert client.poll(timeout_ms=500) == {}
        client.resume(partition)
        assert offsets(read(client, 1)) == [10]


def test_records_are_replayed_from_an_offset_and_from_a_timestamp(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    with joined(lively, unique("group"), partition.topic) as client:
        read(client, 10)
        client.seek(partition, 6)
        assert offsets(read(client, 4)) == [6, 7, 8, 9]
        client.seek_to_beginning(partition)
        assert offsets(read(client, 10)) == list(range(10))
        found = client.offsets_for_times({partition: FIRST_TIMESTAMP + 6500})[partition]
        assert found.offset == 7
        client.seek(partition, found.offset)
        assert [record.value for record in read(client, 3)] == [b"7", b"8", b"9"]


def test_group_without_offsets_begins_where_it_is_told(
    lively: str, partition: TopicPartition, unique: UniqueName
) -> None:
    topic = partition.topic
    with joined(lively, unique("group"), topic, auto_offset_reset="earliest") as client:
        assert offsets(read(client, 1)) == [0]
    with joined(lively, unique("group"), topic, auto_offset_reset="latest") as client:
        wait_until(
            lambda: client.poll(timeout_ms=1000) == {} and client.assignment(), what="a partition", seconds=20
        )
        assert client.position(partition) == 10
        send(make_producer(lively), topic, [{"value": b"new", "partition": 0}])
        assert [record.value for record in read(client, 1)] == [b"new"]
    with (
        joined(lively, unique("group"), topic, auto_offset_reset="none") as client,
        pytest.raises(errors.NoOffsetForPartitionError),
    ):
        read(client, 1)
