"""Transactions through every Python client: seen whole or not at all, and never from a zombie.

They all speak the first version of the protocol; the second one, which the broker offers as well, is spoken
by hand.
"""

from collections.abc import Iterator
from typing import Protocol

import pytest
from confluent_kafka import OFFSET_BEGINNING, TopicPartition
from tests.broker_process import wait_until
from tests.conftest import MakeServer, UniqueName
from tests.interop.confluent import admin_client, consumer, create_topic, make_producer, read, read_all, send
from tests.interop.conftest import MakeTopic
from tests.interop.second_version import SecondVersionTransactional
from tests.interop.transactional import (
    CLIENTS,
    ConfluentTransactional,
    Transactional,
    TransactionFailedError,
)
from tests.lively_broker import LIVELY

pytestmark = [
    pytest.mark.interop,
    # kafka-python reads further message definitions when it first needs them.
    pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning"),
]


PRODUCERS = {**CLIENTS, "second-version": SecondVersionTransactional}


SURVIVORS = [name for name in PRODUCERS if name != "kafka-python"]
"""kafka-python forgets to close sockets that were refused, and warnings about it would spoil other tests."""


class MakeTransactional(Protocol):
    """Starts a producer of this test's client, closed after it."""

    def __call__(
        self, transactional_id: str, *, timeout_ms: int = 30_000, bootstrap: str = ""
    ) -> Transactional: ...


@pytest.fixture(params=list(PRODUCERS))
def make_transactional(request: pytest.FixtureRequest, lively: str) -> Iterator[MakeTransactional]:
    made: list[Transactional] = []

    def make(transactional_id: str, *, timeout_ms: int = 30_000, bootstrap: str = "") -> Transactional:
        made.append(PRODUCERS[request.param](bootstrap or lively, transactional_id, timeout_ms=timeout_ms))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def topic(make_topic: MakeTopic) -> str:
    ((name, _),) = make_topic(1, prefix="transactional")
    return name


def committed(bootstrap: str, topic: str) -> list[str]:
    """All that a reader of committed records sees."""
    return values(bootstrap, topic, "read_committed")


def everything(bootstrap: str, topic: str) -> list[str]:
    """All that is there."""
    return values(bootstrap, topic, "read_uncommitted")


def values(bootstrap: str, topic: str, isolation_level: str) -> list[str]:
    return [m.value().decode() for m in read_all(bootstrap, topic, isolation_level=isolation_level)]


def test_committed_transactions_are_seen_and_aborted_ones_are_not(
    lively: str, topic: str, make_transactional: MakeTransactional, unique: UniqueName
) -> None:
    producer = make_transactional(unique("tx"))
    for number, ending in enumerate(("commit", "abort", "commit", "abort", "abort", "commit")):
        producer.begin()
        for part in ("a", "b"):
            producer.send(topic, f"{ending} {number}{part}")
        getattr(producer, ending)()

    expected = ["commit 0a", "commit 0b", "commit 2a", "commit 2b", "commit 5a", "commit 5b"]
    wait_until(lambda: committed(lively, topic) == expected, what="the committed records alone", seconds=10)
    assert len(everything(lively, topic)) == 12


def test_open_transaction_holds_back_what_comes_after_it(
    lively: str, topic: str, make_transactional: MakeTransactional, unique: UniqueName
) -> None:
    producer = make_transactional(unique("tx"))
    send(make_producer(lively), topic, [{"value": b"before", "partition": 0}])
    producer.begin()
    producer.send(topic, "inside")
    send(make_producer(lively), topic, [{"value": b"after", "partition": 0}])

    assert committed(lively, topic) == ["before"]
    assert everything(lively, topic) == ["before", "inside", "after"]
    with consumer(lively, isolation_level="read_committed", fetch_wait_max_ms=50) as waiting:
        waiting.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        read(waiting, 1)
        producer.commit()
        assert [message.value() for message in read(waiting, 2)] == [b"inside", b"after"]


def test_second_producer_of_an_id_fences_the_first(
    lively: str, topic: str, make_transactional: MakeTransactional, unique: UniqueName
) -> None:
    transactional_id = unique("tx")
    zombie = make_transactional(transactional_id)
    zombie.begin()
    zombie.send(topic, "zombie")
    successor = make_transactional(transactional_id)

    with pytest.raises(TransactionFailedError):
        send_and_commit(zombie, topic, "zombie again")
    successor.begin()
    successor.send(topic, "successor")
    successor.commit()

    wait_until(lambda: committed(lively, topic) == ["successor"], what="the successor's record", seconds=10)
    assert "zombie again" not in everything(lively, topic)


def send_and_commit(producer: Transactional, topic: str, value: str) -> None:
    producer.send(topic, value)
    producer.commit()


def test_offsets_are_committed_with_their_transaction_or_not_at_all(
    lively: str, topic: str, make_transactional: MakeTransactional, unique: UniqueName
) -> None:
    producer, group = make_transactional(unique("tx")), unique("group")

    def offset() -> int:
        with consumer(lively, group_id=group) as client:
            (found,) = client.committed([TopicPartition(topic, 0)], timeout=10)
        return int(found.offset)

    producer.begin()
    producer.send(topic, "kept")
    producer.send_offset(group, topic, 5)
    producer.commit()
    wait_until(lambda: offset() == 5, what="the committed offset", seconds=10)

    producer.begin()
    producer.send(topic, "given up")
    producer.send_offset(group, topic, 9)
    producer.abort()
    assert offset() == 5  # Waits for the marker: this client asks for stable offsets only.


def test_both_versions_of_the_protocol_share_a_partition_and_a_group(
    lively: str, topic: str, unique: UniqueName
) -> None:
    group = unique("group")
    producers: list[Transactional] = [
        ConfluentTransactional(lively, unique("first")),
        SecondVersionTransactional(lively, unique("second")),
    ]
    for producer in producers:
        producer.begin()
    for number, producer in enumerate(producers * 2):
        producer.send(topic, f"{number}")
    producers[0].send_offset(group, topic, 1)
    producers[0].commit()
    producers[1].send_offset(group, topic, 2)
    producers[1].abort()
    for number, producer in enumerate(reversed(producers), 10):
        producer.begin()
        producer.send(topic, f"{number}")
        producer.send_offset(group, topic, number)
        producer.commit()

    wait_until(
        lambda: committed(lively, topic) == ["0", "2", "10", "11"], what="what is committed", seconds=10
    )
    assert everything(lively, topic) == ["0", "1", "2", "3", "10", "11"]
    with consumer(lively, group_id=group) as client:
        (found,) = client.committed([TopicPartition(topic, 0)], timeout=10)
    assert found.offset == 11
    for producer in producers:
        producer.close()


def test_transaction_that_takes_too_long_is_aborted(
    lively: str, topic: str, make_transactional: MakeTransactional, unique: UniqueName
) -> None:
    slow = make_transactional(unique("tx"), timeout_ms=4000)
    slow.begin()
    slow.send(topic, "too slow")
    send(make_producer(lively), topic, [{"value": b"plain", "partition": 0}])
    assert committed(lively, topic) == []

    wait_until(lambda: committed(lively, topic) == ["plain"], what="the abort", seconds=20, every_seconds=0.1)
    with pytest.raises(TransactionFailedError):
        slow.commit()
    assert committed(lively, topic) == ["plain"]


@pytest.mark.slow
@pytest.mark.parametrize("make_transactional", SURVIVORS, indirect=True)
def test_transaction_survives_the_death_of_the_broker(
    make_server: MakeServer, make_transactional: MakeTransactional, unique: UniqueName
) -> None:
    server, topic = make_server(LIVELY), unique()
    create_topic(admin_client(server.bootstrap), topic)
    producer = make_transactional(unique("tx"), bootstrap=server.bootstrap)
    for ending in ("commit", "abort"):
        producer.begin()
        producer.send(topic, f"{ending} before")
        getattr(producer, ending)()
    wait_until(lambda: committed(server.bootstrap, topic) == ["commit before"], what="the first", seconds=10)

    producer.begin()
    producer.send(topic, "across")
    server.kill()
    server.restart()
    assert committed(server.bootstrap, topic) == ["commit before"]
    producer.commit()
    wait_until(
        lambda: committed(server.bootstrap, topic) == ["commit before", "across"], what="both", seconds=10
    )


@pytest.mark.parametrize("pause_seconds", [0.003, 0.01])
def test_transaction_given_up_right_after_the_one_before_was_committed_ends_well(
    lively: str, topic: str, pause_seconds: float
) -> None:
    """librdkafka has just named the partition, while markers of the one before are still being written."""
    producer = make_producer(lively, transactional_id=f"hasty-{topic}", error_cb=lambda _: None, linger_ms=0)
    producer.init_transactions(20)
    for number in range(10):
        producer.begin_transaction()
        producer.produce(topic, f"kept {number}", partition=0)
        producer.commit_transaction(20)
        producer.begin_transaction()
        producer.produce(topic, f"given up {number}", partition=0)
        producer.poll(pause_seconds)
        producer.abort_transaction(20)
    assert committed(lively, topic) == [f"kept {number}" for number in range(10)]
