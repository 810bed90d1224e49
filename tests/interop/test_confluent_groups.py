"""confluent-kafka alone in a group: positions, commits, replay and resets."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from tests.broker_process import wait_until
from tests.conftest import UniqueName
from tests.interop.confluent import consumer, make_producer, read, send
from tests.interop.conftest import MakeTopic

pytestmark = pytest.mark.interop

FIRST_TIMESTAMP = 1_600_000_000_000


@pytest.fixture
def topic(lively: str, make_topic: MakeTopic) -> str:
    """Ten records in one partition, a second apart."""
    ((name, _),) = make_topic(1)
    send(
        make_producer(lively),
        name,
        [{"value": b"%d" % n, "partition": 0, "timestamp": FIRST_TIMESTAMP + 1000 * n} for n in range(10)],
    )
    return name


@contextmanager
def joined(bootstrap: str, group: str, topic: str, **settings: object) -> Iterator[Consumer]:
    """A consumer that has been given the topic."""
    quick = {"group_id": group, "session_timeout_ms": 6000, "fetch_wait_max_ms": 50}
    with consumer(bootstrap, **{**quick, **settings}) as client:
        client.subscribe([topic])
        yield client


def offsets(messages: list[Message]) -> list[int | None]:
    return [message.offset() for message in messages]


def committed_offset(bootstrap: str, group: str, topic: str) -> int:
    with consumer(bootstrap, group_id=group) as client:
        (found,) = client.committed([TopicPartition(topic, 0)], timeout=10)
    return int(found.offset)


def test_synchronous_commit_is_where_the_next_consumer_begins(
    lively: str, topic: str, unique: UniqueName
) -> None:
    group = unique("group")
    with joined(lively, group, topic) as client:
        assert offsets(read(client, 10)) == list(range(10))
        (answered,) = client.commit(
            offsets=[TopicPartition(topic, 0, 4, metadata="half way")], asynchronous=False
        )
        assert (answered.offset, answered.error) == (4, None)
        (found,) = client.committed([TopicPartition(topic, 0)], timeout=10)
        assert (found.offset, found.metadata) == (4, "half way")

    with joined(lively, group, topic) as client:
        assert offsets(read(client, 6)) == [4, 5, 6, 7, 8, 9]


def test_asynchronous_commit_reports_through_its_callback(
    lively: str, topic: str, unique: UniqueName
) -> None:
    group = unique("group")
    reports: list[tuple[KafkaError | None, list[TopicPartition]]] = []
    with joined(lively, group, topic, on_commit=lambda *report: reports.append(report)) as client:
        last = read(client, 7)[-1]
        client.commit(message=last, asynchronous=True)
        wait_until(lambda: client.poll(0.05) is not None or reports, what="the report of the commit")
    ((error, partitions),) = reports
    assert error is None
    assert [one.offset for one in partitions] == [7]
    assert committed_offset(lively, group, topic) == 7


def test_automatic_commit_happens_by_interval_and_on_close(
    lively: str, topic: str, unique: UniqueName
) -> None:
    group, timely = unique("group"), {"enable_auto_commit": True, "auto_commit_interval_ms": 100}
    with joined(lively, group, topic, **timely) as client:
        read(client, 5)
        wait_until(
            lambda: client.poll(0.05) is None and committed_offset(lively, group, topic) == 10,
            what="a commit by time",
        )
    other = unique("group")
    with joined(lively, other, topic, enable_auto_commit=True, auto_commit_interval_ms=600_000) as client:
        read(client, 3)
    assert committed_offset(lively, other, topic) == 3


def test_paused_partition_is_silent_until_it_is_resumed(lively: str, topic: str, unique: UniqueName) -> None:
    with joined(lively, unique("group"), topic) as client:
        read(client, 10)
        partition = TopicPartition(topic, 0)
        client.pause([partition])
        send(make_producer(lively), topic, [{"value": b"late", "partition": 0}])
        assert client.poll(0.5) is None
        client.resume([partition])
        assert offsets(read(client, 1)) == [10]


def test_records_are_replayed_from_an_offset(lively: str, topic: str, unique: UniqueName) -> None:
    with joined(lively, unique("group"), topic) as client:
        read(client, 10)
        client.seek(TopicPartition(topic, 0, 6))
        assert offsets(read(client, 4)) == [6, 7, 8, 9]
        client.seek(TopicPartition(topic, 0, 0))
        assert offsets(read(client, 10)) == list(range(10))


def test_records_are_replayed_from_a_timestamp(lively: str, topic: str, unique: UniqueName) -> None:
    with joined(lively, unique("group"), topic) as client:
        read(client, 10)
        (found,) = client.offsets_for_times([TopicPartition(topic, 0, FIRST_TIMESTAMP + 6500)], timeout=10)
        assert found.offset == 7
        client.seek(found)
        assert [message.value() for message in read(client, 3)] == [b"7", b"8", b"9"]


def test_group_without_offsets_begins_where_it_is_told(lively: str, topic: str, unique: UniqueName) -> None:
    with joined(lively, unique("group"), topic, auto_offset_reset="earliest") as client:
        assert offsets(read(client, 1)) == [0]
    with joined(lively, unique("group"), topic, auto_offset_reset="latest") as client:
        # Nothing old comes; what is sent after the position has been taken does.
        deadline = time.monotonic() + 20
        message = None
        while message is None and time.monotonic() < deadline:
            send(make_producer(lively), topic, [{"value": b"new", "partition": 0}])
            message = client.poll(0.2)
        assert message is not None
        assert message.value() == b"new"
    with joined(lively, unique("group"), topic, auto_offset_reset="error") as client:
        message = client.poll(20)
        assert message is not None
        assert message.error().code() == KafkaError._AUTO_OFFSET_RESET


def test_commit_of_a_consumer_that_is_no_member_is_refused(
    lively: str, topic: str, unique: UniqueName
) -> None:
    group = unique("group")
    with joined(lively, group, topic) as client, consumer(lively, group_id=group) as stranger:
        read(client, 10)
        with pytest.raises(KafkaException) as failure:
            stranger.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
        assert failure.value.args[0].code() == KafkaError.UNKNOWN_MEMBER_ID
