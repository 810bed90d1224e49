"""A clock that is moved: retention, sessions and transactions end at once, and the broker lives on."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException
from kafka import KafkaConsumer
from tests.broker_process import wait_until
from tests.testing.records import log_range, new_producer, produce

from penstock.model.errors import UsageError
from penstock.testing import Broker

pytestmark = pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning")


@pytest.fixture(params=[False, True], ids=["memory", "disk"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker(on_disk=request.param) as running:
        yield running


def test_retention_expires_what_is_too_old_and_nothing_else(broker: Broker) -> None:
    day = broker.create_topic(retention_ms=24 * 3600 * 1000)
    week = broker.create_topic(retention_ms=7 * 24 * 3600 * 1000)
    for topic in (day, week):
        produce(broker.bootstrap_servers, topic, "one", "two")
    broker.clock.advance(hours=23)
    assert log_range(broker.bootstrap_servers, day) == (0, 2)
    broker.clock.advance(hours=2)
    assert log_range(broker.bootstrap_servers, day) == (2, 2)
    assert log_range(broker.bootstrap_servers, week) == (0, 2)
    assert produce(broker.bootstrap_servers, day, "three") == [2]


def test_retention_of_a_minute_does_not_wait_for_the_next_check(broker: Broker) -> None:
    topic = broker.create_topic(retention_ms=30_000)
    produce(broker.bootstrap_servers, topic, "one")
    broker.clock.advance(minutes=1)
    assert log_range(broker.bootstrap_servers, topic) == (1, 1)


def test_records_stamped_by_the_broker_have_its_time() -> None:
    with Broker() as broker:
        topic = broker.create_topic(message_timestamp_type="LogAppendTime")
        broker.clock.advance(days=2)
        produce(broker.bootstrap_servers, topic, "x")
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=broker.bootstrap_servers,
            auto_offset_reset="earliest",
            consumer_timeout_ms=10_000,
        )
        stamped = datetime.fromtimestamp(next(iter(consumer)).timestamp / 1000, tz=UTC)
        consumer.close()
        assert timedelta(days=1, hours=23) < stamped - datetime.now(tz=UTC) < timedelta(days=2, hours=1)
        assert abs(broker.clock.now() - stamped) < timedelta(minutes=5)
        assert broker.clock.offset == timedelta(days=2)


def member_count(broker: Broker, group: str) -> int:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    described: Any = admin.describe_consumer_groups([group])[group].result(10)
    return len(described.members)


def test_session_of_a_silent_member_ends() -> None:
    with Broker() as broker:
        topic = broker.create_topic()
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "readers",
                "session.timeout.ms": 45_000,
                "heartbeat.interval.ms": 40_000,
                "log_level": 0,
            }
        )
        consumer.subscribe([topic])
        wait_until(lambda: (consumer.poll(0.1), consumer.assignment())[1], what="an assignment", seconds=20)
        assert member_count(broker, "readers") == 1
        broker.clock.advance(minutes=1)
        assert member_count(broker, "readers") == 0
        consumer.close()


def test_transaction_that_took_too_long_is_aborted() -> None:
    with Broker() as broker:
        topic = broker.create_topic()
        producer = new_producer(
            broker.bootstrap_servers, transactional_id="copier", transaction_timeout_ms=60_000
        )
        producer.init_transactions(10)
        producer.begin_transaction()
        producer.produce(topic, b"never")
        producer.flush(10)
        broker.clock.advance(minutes=2)
        # One record and the marker that ends its transaction.
        wait_until(lambda: log_range(broker.bootstrap_servers, topic)[1] == 2, what="the marker")
        with pytest.raises(KafkaException):
            producer.commit_transaction(10)


def test_time_outlives_the_broker_that_counted_it() -> None:
    with Broker() as broker:
        broker.clock.advance(hours=5)
        broker.kill()
        broker.restart()
        assert broker.clock.now() - datetime.now(tz=UTC) > timedelta(hours=4)


def test_broker_serves_on_after_a_year() -> None:
    with Broker() as broker:
        topic = broker.create_topic(retention_ms=-1)
        producer = new_producer(broker.bootstrap_servers)
        producer.produce(topic, b"one")
        assert producer.flush(10) == 0
        broker.clock.advance(days=365)
        producer.produce(topic, b"two")
        assert producer.flush(10) == 0
        assert log_range(broker.bootstrap_servers, topic) == (0, 2)


def test_own_clock_of_the_test_does_not_move() -> None:
    with Broker() as broker:
        before = time.time()
        broker.clock.advance(days=10)
        assert time.time() - before < 3600


@pytest.mark.parametrize("step", [{}, {"hours": -1}])
def test_step_that_is_none_is_refused(step: dict[str, float]) -> None:
    with Broker() as broker, pytest.raises(UsageError, match="forward"):
        broker.clock.advance(**step)


def test_broker_lives_on_while_pythons_clock_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under freezegun: whoever asks the time module gets the same answer for ever."""
    with Broker() as broker:
        topic = broker.create_topic(retention_ms=30_000)
        monkeypatch.setattr(time, "time", lambda: 1_000_000_000.0)
        monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000_000_000_000)
        monkeypatch.setattr(time, "monotonic", lambda: 1.0)
        assert produce(broker.bootstrap_servers, topic, "x") == [0]
        broker.clock.advance(minutes=1)
        assert log_range(broker.bootstrap_servers, topic) == (1, 1)
        broker.restart()
        assert produce(broker.bootstrap_servers, topic, "y") == [1]
