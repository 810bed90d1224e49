"""Faults as clients meet them: errors, silence and broken connections, each exactly where it was ordered."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaConsumer, KafkaProducer, errors
from tests.testing.records import DeliveryError, consume, log_range, new_producer, produce

from penstock.model.errors import UsageError
from penstock.testing import Broker

pytestmark = pytest.mark.filterwarnings("ignore:read_text is deprecated:DeprecationWarning")


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def broker(shared: Broker) -> Iterator[Broker]:
    yield shared
    shared.faults.clear()
    shared.requests.clear()


@pytest.fixture
def topic(broker: Broker) -> str:
    return broker.create_topic()


def test_error_that_may_pass_is_retried_by_the_client(broker: Broker, topic: str) -> None:
    fault = broker.faults.fail("Produce", error="NOT_LEADER_OR_FOLLOWER", times=2, topic=topic)
    assert produce(broker.bootstrap_servers, topic, "order") == [0]
    assert fault.hits == 2
    assert [request.fault for request in broker.requests.of("Produce")] == ["fail", "fail", ""]
    assert consume(broker.bootstrap_servers, topic, 1) == ["order"]


def test_error_that_lasts_reaches_the_caller(broker: Broker, topic: str) -> None:
    broker.faults.fail("Produce", error="TOPIC_AUTHORIZATION_FAILED", topic=topic)
    with pytest.raises(DeliveryError, match="TOPIC_AUTHORIZATION_FAILED"):
        produce(broker.bootstrap_servers, topic, "order")
    assert log_range(broker.bootstrap_servers, topic) == (0, 0)


def test_kafka_python_is_told_the_error_by_its_name(broker: Broker, topic: str) -> None:
    broker.faults.fail("Produce", error="MESSAGE_TOO_LARGE", topic=topic)
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, enable_idempotence=False)
    with pytest.raises(errors.MessageSizeTooLargeError):
        producer.send(topic, b"order").get(10)
    producer.close()


def test_fault_of_one_topic_leaves_others_alone(broker: Broker, topic: str) -> None:
    other = broker.create_topic()
    fault = broker.faults.fail("Produce", error="POLICY_VIOLATION", topic=topic)
    assert produce(broker.bootstrap_servers, other, "x") == [0]
    assert fault.hits == 0


def test_fault_of_one_client_leaves_others_alone(broker: Broker, topic: str) -> None:
    broker.faults.fail("Produce", error="POLICY_VIOLATION", client_id="billing")
    assert produce(broker.bootstrap_servers, topic, "x", client_id="shipping") == [0]
    with pytest.raises(DeliveryError):
        produce(broker.bootstrap_servers, topic, "x", client_id="billing")


def test_fetch_of_two_topics_fails_for_one_and_serves_the_other(broker: Broker, topic: str) -> None:
    other = broker.create_topic()
    for name in (topic, other):
        produce(broker.bootstrap_servers, name, f"in {name}")
    fault = broker.faults.fail("Fetch", error="TOPIC_AUTHORIZATION_FAILED", topic=topic)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, 0), TopicPartition(other, 0, 0)])
    heard: dict[str, str] = {}
    deadline = time.monotonic() + 15
    while len(heard) < 2 and time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is not None:
            heard[message.topic()] = message.error().name() if message.error() else message.value().decode()
    consumer.close()
    assert heard == {topic: "TOPIC_AUTHORIZATION_FAILED", other: f"in {other}"}
    assert fault.hits >= 1


def test_kafka_python_fetches_on_after_a_passing_error(broker: Broker, topic: str) -> None:
    produce(broker.bootstrap_servers, topic, "order")
    fault = broker.faults.fail("Fetch", error="NOT_LEADER_OR_FOLLOWER", times=1, topic=topic)
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=broker.bootstrap_servers,
        auto_offset_reset="earliest",
        consumer_timeout_ms=10_000,
    )
    assert next(iter(consumer)).value == b"order"
    consumer.close()
    assert fault.hits == 1


def test_produce_dropped_before_it_is_carried_out_is_written_once_by_the_retry(
    broker: Broker, topic: str
) -> None:
    fault = broker.faults.drop("Produce", times=1, topic=topic)
    assert produce(broker.bootstrap_servers, topic, "order", enable_idempotence=True) == [0]
    assert fault.hits == 1
    assert log_range(broker.bootstrap_servers, topic) == (0, 1)


@pytest.mark.parametrize(("is_idempotent", "copies"), [(True, 1), (False, 2)])
def test_produce_dropped_after_it_was_carried_out_is_doubled_unless_idempotent(
    broker: Broker, topic: str, is_idempotent: bool, copies: int
) -> None:
    fault = broker.faults.drop("Produce", when="after", times=1, topic=topic)
    produce(broker.bootstrap_servers, topic, "order", enable_idempotence=is_idempotent)
    assert fault.hits == 1
    assert log_range(broker.bootstrap_servers, topic) == (0, copies)


def test_delayed_answer_comes_after_the_clients_patience(broker: Broker, topic: str) -> None:
    with broker.faults.delay("Produce", seconds=30, topic=topic) as fault:
        producer = new_producer(broker.bootstrap_servers, message_timeout_ms=700, enable_idempotence=False)
        failures: list[object] = []
        producer.produce(topic, b"x", on_delivery=lambda error, _: failures.append(error))
        assert producer.flush(15) == 0
        assert "MSG_TIMED_OUT" in str(failures[0])
        assert fault.hits >= 1
    assert len(broker.faults) == 0


def test_delay_is_short_where_it_is_short(broker: Broker, topic: str) -> None:
    broker.faults.delay("Produce", seconds=0.2, times=1)
    began = time.monotonic()
    assert produce(broker.bootstrap_servers, topic, "x") == [0]
    assert time.monotonic() - began >= 0.2


def test_metadata_error_leaves_the_brokers_in_the_answer(broker: Broker, topic: str) -> None:
    other = broker.create_topic()
    broker.faults.fail("Metadata", error="TOPIC_AUTHORIZATION_FAILED", topic=topic)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    seen = admin.list_topics(topic, timeout=10)
    assert [found.port for found in seen.brokers.values()] == [broker.port]
    assert "TOPIC_AUTHORIZATION_FAILED" in str(seen.topics[topic].error)
    assert admin.list_topics(other, timeout=10).topics[other].error is None


def test_group_request_fails_where_the_group_is_asked(broker: Broker, topic: str) -> None:
    broker.faults.fail("FindCoordinator", error="COORDINATOR_NOT_AVAILABLE", times=1)
    fault = broker.faults.fail("OffsetCommit", error="GROUP_AUTHORIZATION_FAILED", topic=topic)
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": broker.topic("group"), "log_level": 0}
    )
    with pytest.raises(KafkaException, match="GROUP_AUTHORIZATION_FAILED"):
        consumer.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
    consumer.close()
    assert fault.hits == 1


def test_topic_creation_can_fail_for_clients_and_not_for_the_test(broker: Broker) -> None:
    broker.faults.fail("CreateTopics", error="POLICY_VIOLATION")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    name = broker.topic()
    with pytest.raises(KafkaException, match="POLICY_VIOLATION"):
        admin.create_topics([NewTopic(name, 1)])[name].result(10)
    assert broker.create_topic(name) == name


def test_unacknowledged_produce_loses_its_connection(broker: Broker, topic: str) -> None:
    fault = broker.faults.fail("Produce", error="NOT_ENOUGH_REPLICAS", times=1, topic=topic)
    producer = new_producer(broker.bootstrap_servers, acks=0, enable_idempotence=False)
    producer.produce(topic, b"x")
    producer.flush(10)
    fault.wait(1)
    assert log_range(broker.bootstrap_servers, topic) == (0, 0)


def test_block_removes_its_fault_and_no_other(broker: Broker) -> None:
    kept = broker.faults.delay("Fetch", seconds=0)
    with broker.faults.drop("Produce"):
        assert len(broker.faults) == 2
    assert len(broker.faults) == 1
    kept.remove()
    assert len(broker.faults) == 0


def test_fault_that_is_used_up_is_gone(broker: Broker, topic: str) -> None:
    broker.faults.fail("Produce", error="NOT_LEADER_OR_FOLLOWER", times=1, topic=topic)
    produce(broker.bootstrap_servers, topic, "x")
    assert len(broker.faults) == 0


def test_fault_that_never_strikes_is_said_so(broker: Broker) -> None:
    fault = broker.faults.drop("EndTxn")
    with pytest.raises(TimeoutError, match=r"EndTxn.*0 hits"):
        fault.wait(seconds=0.05)


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        (lambda faults: faults.fail("Produce", error="NO_SUCH"), "no error"),
        (lambda faults: faults.fail("Prodcue", error="NOT_CONTROLLER"), "did you mean Produce"),
        (lambda faults: faults.drop("Produce", times=0), "at least 1"),
        (lambda faults: faults.drop("Heartbeat", topic="orders"), "names no topics"),
        (lambda faults: faults.drop("Produce", when="never"), "before"),
        (lambda faults: faults.delay("Produce", seconds=-1), "below 0"),
    ],
)
def test_order_that_makes_no_sense_is_refused(broker: Broker, order: object, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        order(broker.faults)  # type: ignore[operator]
    assert len(broker.faults) == 0


def test_requests_show_api_client_and_topic(broker: Broker, topic: str) -> None:
    produce(broker.bootstrap_servers, topic, "x", client_id="billing")
    (request,) = broker.requests.of("Produce", topic=topic)
    assert (request.api, request.client_id, request.topics) == ("Produce", "billing", (topic,))
    assert broker.requests.count("Metadata", client_id="billing") >= 1
    assert broker.requests.count("Produce", client_id="shipping") == 0
    broker.requests.clear()
    assert len(broker.requests) == 0


def test_requests_by_topic_id_show_the_name(broker: Broker, topic: str) -> None:
    produce(broker.bootstrap_servers, topic, "x")
    consume(broker.bootstrap_servers, topic, 1)
    fetches = broker.requests.wait("Fetch", topic=topic)
    assert {request.topics for request in fetches} == {(topic,)}


def test_requests_that_do_not_come_are_said_so(broker: Broker) -> None:
    with pytest.raises(TimeoutError, match="0 of 1 requests EndTxn"):
        broker.requests.wait("EndTxn", seconds=0.05)
