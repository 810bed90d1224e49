"""The producer against a real broker."""

import logging
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.reading import read_all, values
from tests.conftest import MakeServer, UniqueName

from penstock import AckMode, Admin, Producer, ProducerConfig, Record, RecordMetadata
from penstock.client.errors import (
    BufferFull,
    ClosedError,
    ConfigurationError,
    DeliveryError,
    DeliveryTimedOut,
    DeliveryToUnknownTopic,
    RecordRefused,
    RequestTimedOut,
    UnknownTopic,
)
from penstock.client.producing.delivery import Delivery


def test_send_gives_where_the_record_is(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        found = producer.send(topic, b"three valves", timestamp_ms=1_234_567_890_123).result(20)
    assert found == RecordMetadata(topic, 0, 0, 1_234_567_890_123)
    with pytest.raises(AttributeError):
        found.offset = 1  # type: ignore[misc]


def test_producer_takes_a_config_as_well_as_arguments(broker: str, topic: str) -> None:
    config = ProducerConfig(bootstrap_servers=[broker], acks=AckMode.LEADER, kafka={"client.id": "mine"})
    with Producer(config, linger_ms=0) as producer:
        assert producer.config.linger_ms == 0
        assert producer.send(topic, b"x").result(20).offset == 0


def test_record_is_stored_as_it_was_sent(broker: str, topic: str) -> None:
    headers = [("a", b"1"), ("a", b"2"), ("none", None), ("text", "ü")]
    with Producer(bootstrap_servers=broker) as producer:
        producer.send(topic, "välue", key="k", headers=headers, partition=0, timestamp_ms=77).result(20)
        producer.send(topic, b"", key=b"", headers={"b": b"3"}).result(20)
    first, second = read_all(broker, topic, 2)
    assert (first.key, first.value, first.timestamp_ms) == (b"k", "välue".encode(), 77)
    assert first.headers == (("a", b"1"), ("a", b"2"), ("none", None), ("text", "ü".encode()))
    assert (second.key, second.value, second.headers) == (b"", b"", (("b", b"3"),))


@pytest.mark.parametrize(
    "headers",
    [
        [("\ud800", b"kills librdkafka's binding")],
        {"\ud800": b"so does this"},
        [("a\0b", b"would be cut")],
        [(None, b"would be called None")],
        [(b"a", b"would be called b'a'")],
        "abc",
    ],
)
def test_headers_whose_names_are_no_text_are_refused(broker: str, topic: str, headers: Any) -> None:
    with (
        Producer(bootstrap_servers=broker) as producer,
        pytest.raises(ConfigurationError, match=r"headers=.* must be pairs of a name"),
    ):
        producer.send(topic, b"v", headers=headers)


def test_send_batch_returns_offsets_in_order(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    records: list[Any] = [Record(topic, b"a", partition=0), (topic, b"b", b"key", None, 1)]
    records += [Record(topic, b"c", partition=0), Record(topic, b"d", partition=1)]
    with Producer(bootstrap_servers=broker) as producer:
        assert producer.send_batch(records) == [0, 0, 1, 1]
        assert producer.send_batch([]) == []


def test_records_of_many_threads_all_arrive_in_the_order_of_each(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, linger_ms=1) as producer:

        def send(name: bytes) -> None:
            for number in range(500):
                producer.send(topic, b"%s-%04d" % (name, number))

        threads = [threading.Thread(target=send, args=(b"%d" % number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        producer.flush()
        assert producer.metrics().records_acknowledged == 2000
    found = values(read_all(broker, topic, 2000))
    for number in range(4):
        mine = [value for value in found if value.startswith(b"%d-" % number)]
        assert mine == sorted(mine)


def test_flush_sends_what_lingers_at_once(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, linger_ms=60_000) as producer:
        deliveries = [producer.send(topic, b"x") for _ in range(10)]
        producer.flush(20)
        assert all(delivery.done() for delivery in deliveries)


def test_close_waits_for_what_is_on_its_way_and_may_be_repeated(broker: str, topic: str) -> None:
    producer = Producer(bootstrap_servers=broker, linger_ms=60_000)
    delivery = producer.send(topic, b"x")
    producer.close()
    producer.close()
    assert delivery.result(0).offset == 0
    with pytest.raises(ClosedError):
        producer.send(topic, b"y")
    with pytest.raises(ClosedError):
        producer.flush()


def test_acks_none_ends_without_an_offset(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, acks=AckMode.NONE) as producer:
        assert producer.send(topic, b"x").result(20).offset == -1
    assert values(read_all(broker, topic, 1)) == [b"x"]


def test_record_for_a_topic_that_is_not_there_fails_and_says_what_to_do(
    broker: str, unique: UniqueName
) -> None:
    with Producer(bootstrap_servers=broker, kafka={"topic.metadata.propagation.max.ms": 500}) as producer:
        error = producer.send(unique("nowhere"), b"x").exception(30)
        assert producer.metrics().records_failed == 1
    assert isinstance(error, DeliveryToUnknownTopic)
    assert error.code == "UNKNOWN_TOPIC_OR_PARTITION"
    assert "penstock topic create" in str(error)


def test_partition_that_is_not_there_fails(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        producer.send(topic, b"x").result(20)
        with pytest.raises(UnknownTopic):
            producer.send(topic, b"x", partition=5).result(30)


def test_record_that_is_too_large_is_refused_at_once(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, max_message_bytes=2000) as producer, pytest.raises(RecordRefused):
        producer.send(topic, b"x" * 3000)


def test_batch_with_a_bad_record_raises_its_error_when_all_have_ended(
    broker: str, admin: Admin, topic: str
) -> None:
    admin.alter_config(topic, {"max.message.bytes": 1000})
    with Producer(bootstrap_servers=broker) as producer:
        producer.send(topic, b"first").result(20)
        with pytest.raises(RecordRefused) as refused:
            producer.send_batch([(topic, b"x" * 5000)])
        assert refused.value.code == "MESSAGE_TOO_LARGE"
        assert producer.send_batch([(topic, b"small")]) == [1]


@pytest.mark.parametrize("timestamp_ms", [0, -1, 1.5])
def test_time_that_is_none_is_refused(broker: str, topic: str, timestamp_ms: Any) -> None:
    with (
        Producer(bootstrap_servers=broker) as producer,
        pytest.raises(ConfigurationError, match="since 1970"),
    ):
        producer.send(topic, b"x", timestamp_ms=timestamp_ms)


@pytest.mark.parametrize("topic_name", [3, None])
def test_topic_that_is_no_name_is_refused(broker: str, topic_name: Any) -> None:
    with Producer(bootstrap_servers=broker) as producer, pytest.raises(ConfigurationError):
        producer.send(topic_name, b"x")


@pytest.mark.slow
def test_full_buffer_raises_at_once_if_asked_to(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topic("full")
    with Producer(bootstrap_servers=server.bootstrap, buffer_records=10, block_when_full=False) as producer:
        producer.send("full", b"first").result(20)
        wait_until(lambda: len(producer) == 0, what="room")
        with server.paused():
            for _ in range(10):
                producer.send("full", b"x")
            with pytest.raises(BufferFull, match="there is no room") as full:
                producer.send("full", b"x")
            assert (full.value.code, full.value.is_retriable) == ("QUEUE_FULL", True)
        producer.flush(30)
        producer.send("full", b"last").result(20)


@pytest.mark.slow
def test_full_buffer_blocks_for_so_long_and_goes_on_when_there_is_room(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        admin.create_topic("full")
    with Producer(bootstrap_servers=server.bootstrap, buffer_records=10, max_block_ms=300) as producer:
        producer.send("full", b"first").result(20)
        wait_until(lambda: len(producer) == 0, what="room")
        with server.paused():
            for _ in range(10):
                producer.send("full", b"x")
            began = time.monotonic()
            with pytest.raises(BufferFull, match="after 300 ms"):
                producer.send("full", b"x")
            assert time.monotonic() - began >= 0.3
        deliveries = [producer.send("full", b"%d" % number) for number in range(100)]
        assert [delivery.result(20).offset for delivery in deliveries] == list(range(11, 111))


@pytest.mark.slow
def test_every_future_ends_when_the_broker_is_gone(make_server: MakeServer) -> None:
    server = make_server(is_alone=True)
    producer = Producer(bootstrap_servers=server.bootstrap, delivery_timeout_ms=5000, linger_ms=0)
    producer.send("gone", b"first").result(20)
    server.kill()
    deliveries = [producer.send("gone", b"%d" % number) for number in range(50)]
    errors = [delivery.exception(30) for delivery in deliveries]
    assert all(isinstance(error, DeliveryTimedOut) and error.is_retriable for error in errors)
    late = [producer.send("gone", b"late") for _ in range(5)]
    with pytest.raises(RequestTimedOut):
        producer.flush(0.01)
    with pytest.raises(RequestTimedOut, match="of closing"):
        producer.close(0.01)
    assert all(isinstance(delivery.exception(0), DeliveryError) for delivery in late)


def test_waiting_for_a_future_ends_in_time(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, linger_ms=5_000) as producer:
        delivery = producer.send(topic, b"x")
        with pytest.raises(TimeoutError, match="may still be"):
            delivery.result(0.05)
        assert not delivery.done()
        producer.flush()


def test_metrics_count_records_bytes_and_batches(broker: str, topic: str) -> None:
    with Producer(
        bootstrap_servers=broker, statistics_interval_ms=50, kafka={"batch.num.messages": 10}
    ) as producer:
        assert producer.metrics().statistics_age_ms is None
        for _ in range(100):
            producer.send(topic, b"12345678", key=b"k")
        producer.flush()
        seen = [producer.metrics()]

        def is_told() -> bool:
            """Statistics that librdkafka has not handed over yet count as a record for a moment."""
            seen.append(producer.metrics())
            return seen[-1].batches_sent >= 10 and not seen[-1].records_waiting

        wait_until(is_told, what="statistics")
    metrics = seen[-1]
    assert (metrics.records_sent, metrics.bytes_sent) == (100, 900)
    assert (metrics.records_acknowledged, metrics.records_failed, metrics.records_waiting) == (100, 0, 0)
    assert metrics.records_per_batch_average == 10
    assert metrics.batch_size_max_bytes >= metrics.batch_size_average_bytes > 90
    assert metrics.request_latency.max_ms >= metrics.request_latency.p50_ms > 0


def test_closing_ends_though_other_threads_go_on_sending(broker: str, topic: str) -> None:
    producer = Producer(bootstrap_servers=broker, linger_ms=0)
    sent: list[Delivery] = []

    def send() -> None:
        with suppress(ClosedError):
            while True:
                sent.append(producer.send(topic, b"x"))

    senders = [threading.Thread(target=send) for _ in range(2)]
    for sender in senders:
        sender.start()
    wait_until(lambda: len(sent) > 1000, what="records")
    producer.close()
    for sender in senders:
        sender.join(10)
        assert not sender.is_alive()
    assert not [each for each in sent if each.exception(0)]


def test_statistics_are_not_counted_as_records(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker, statistics_interval_ms=20) as producer:
        producer.send(topic, b"x").result(20)
        for _ in range(20):
            time.sleep(0.03)
            metrics = producer.metrics()
            assert (metrics.records_acknowledged, metrics.records_waiting) == (1, 0)
            assert len(producer) == 0


def test_producer_that_is_forgotten_says_so(broker: str) -> None:
    producer = Producer(bootstrap_servers=broker)
    forget = [producer]
    del producer
    with pytest.warns(ResourceWarning, match="never closed"):
        forget.clear()


def test_program_that_ends_without_closing_still_sends(broker: str, topic: str) -> None:
    program = (
        "from penstock import Producer; "
        f"Producer(bootstrap_servers={broker!r}, linger_ms=60000).send({topic!r}, b'last words')"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert values(read_all(broker, topic, 1)) == [b"last words"]


def test_troubles_are_logged_and_explain_a_timeout(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "penstock.client"):
        producer = Producer(bootstrap_servers="127.0.0.1:1", delivery_timeout_ms=1000)
        producer.send("nowhere", b"x")
        wait_until(lambda: caplog.records, what="a word of trouble")
        with pytest.raises(RequestTimedOut, match="last trouble"):
            producer.flush(0.2)
        with pytest.raises(RequestTimedOut):
            producer.close(0.1)


def test_statistics_that_come_meanwhile_are_not_taken_for_records(broker: str, topic: str) -> None:
    is_over = threading.Event()

    def be_busy() -> None:  # Whoever flushes gets to look at the result some milliseconds later.
        while not is_over.is_set():
            pass

    busy = threading.Thread(target=be_busy)
    busy.start()
    try:
        with Producer(bootstrap_servers=broker, kafka={"statistics.interval.ms": 20}) as producer:
            for _ in range(40):
                producer.send(topic, b"x")
                producer.flush(30)
    finally:
        is_over.set()
        busy.join()
