"""Tasks that write at least once, against a real broker and without Spark."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.spark.writing.arrow_rows import arrow_rows, at_ms
from tests.wire_client.reading import read_topic, read_values

from penstock.model.errors import PenstockError
from penstock.spark.options.sink_options import SinkOptions, batch_sink_options
from penstock.spark.writing.plain_task import write_plainly
from penstock.testing import Broker
from penstock.wire_client.delivery.failure import DeliveryError
from penstock.wire_client.errors import UnreachableError
from penstock.wire_client.written_topics import NoSuchTopicError


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings={"auto.create.topics.enable": "false"}) as one:
        yield one


@pytest.fixture(autouse=True)
def _no_faults(broker: Broker) -> Iterator[None]:
    yield
    broker.faults.clear()


def options(broker: Broker, **given: str) -> SinkOptions:
    return batch_sink_options({"kafka.bootstrap.servers": broker.bootstrap_servers} | given)


def test_everything_of_a_row_becomes_of_its_record(broker: Broker) -> None:
    topic = broker.create_topic(partitions=2)
    rows = arrow_rows(
        key=["k", None],
        value=["v", None],
        headers=[[{"key": "a", "value": b"1"}, {"key": "a", "value": None}], None],
        partition=[1, 1],
        timestamp=[at_ms(1_700_000_000_123), None],
    )

    assert write_plainly(options(broker, topic=topic), [rows]).record_count == 2

    empty, (first, second) = read_topic(broker.bootstrap_servers, topic)
    assert empty == []
    assert (first.key(), first.value(), first.headers()) == (b"k", b"v", [("a", b"1"), ("a", None)])
    assert first.timestamp() == (1, 1_700_000_000_123)
    assert (second.key(), second.value(), second.headers()) == (None, None, None)
    assert second.timestamp()[1] > 1_700_000_000_123


def test_rows_go_to_the_topics_they_name(broker: Broker) -> None:
    one, two = broker.create_topic(), broker.create_topic()
    rows = arrow_rows(value=["a", "b", "c"], topic=[one, two, one])

    write_plainly(options(broker), [rows])
    assert read_values(broker.bootstrap_servers, one) == [[b"a", b"c"]]
    assert read_values(broker.bootstrap_servers, two) == [[b"b"]]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_many_rows_arrive_in_the_order_of_each_key(broker: Broker, compression: str) -> None:
    topic = broker.create_topic(partitions=3)
    batches = [
        arrow_rows(
            key=[f"k{index % 7}" for index in range(1000)],
            value=[f"{number * 1000 + index:08}" for index in range(1000)],
        )
        for number in range(10)
    ]
    small = options(broker, topic=topic, compression=compression, **{"kafka.max.request.size": "20000"})

    write_plainly(small, batches)
    read = read_topic(broker.bootstrap_servers, topic)
    assert sorted(value for part in read for message in part if (value := message.value())) == [
        b"%08d" % number for number in range(10_000)
    ]
    for part in read:
        for key in {message.key() for message in part}:
            values: list[Any] = [message.value() for message in part if message.key() == key]
            assert values == sorted(values)


def test_a_task_without_rows_writes_nothing_and_asks_for_nothing(broker: Broker) -> None:
    assert write_plainly(options(broker, topic="not-there"), [arrow_rows(value=[])]).record_count == 0


def test_a_task_is_not_done_before_its_rows_are_acknowledged(broker: Broker) -> None:
    topic = broker.create_topic()
    broker.faults.fail("Produce", error="NOT_ENOUGH_REPLICAS", topic=topic)

    with pytest.raises(DeliveryError, match=f"topic '{topic}', partition 0.*NOT_ENOUGH_REPLICAS"):
        write_plainly(
            options(broker, topic=topic, **{"kafka.delivery.timeout.ms": "300"}), [arrow_rows(value=["a"])]
        )


def test_rows_that_are_refused_for_a_while_arrive_once(broker: Broker) -> None:
    topic = broker.create_topic()
    broker.faults.drop("Produce", when="after", times=2)

    write_plainly(options(broker, topic=topic), [arrow_rows(value=["a", "b"])])
    assert read_values(broker.bootstrap_servers, topic) == [[b"a", b"b"]]


def test_a_record_that_is_too_large_is_refused_with_what_to_do(broker: Broker) -> None:
    topic = broker.create_topic(max_message_bytes=2_000)

    with pytest.raises(DeliveryError, match=r"max.message.bytes.*MESSAGE_TOO_LARGE"):
        write_plainly(options(broker, topic=topic), [arrow_rows(value=["x" * 5_000])])


def test_a_topic_that_is_not_there_is_named_with_the_way_to_make_it(broker: Broker) -> None:
    with pytest.raises(NoSuchTopicError, match="penstock topic create nowhere"):
        write_plainly(options(broker, topic="nowhere"), [arrow_rows(value=["a"])])


def test_a_topic_that_brokers_may_make_is_made() -> None:
    with Broker(settings={"auto.create.topics.enable": "true"}) as broker:
        write_plainly(options(broker, topic="made"), [arrow_rows(value=["a"])])
        assert [value for part in read_values(broker.bootstrap_servers, "made") for value in part] == [b"a"]


def test_a_broker_that_is_being_restarted_is_waited_for(broker: Broker) -> None:
    topic = broker.create_topic()
    broker.kill()
    restart = threading.Timer(1.0, broker.start)
    restart.start()
    try:
        write_plainly(options(broker, topic=topic), [arrow_rows(value=["a"])])
    finally:
        restart.join()
    assert read_values(broker.bootstrap_servers, topic) == [[b"a"]]


def test_a_broker_that_is_not_there_is_named(closed_port: int) -> None:
    given = {"kafka.bootstrap.servers": f"127.0.0.1:{closed_port}", "topic": "t", "kafka.max.block.ms": "200"}
    with pytest.raises(UnreachableError, match=f"127.0.0.1:{closed_port}"):
        write_plainly(batch_sink_options(given), [arrow_rows(value=["a"])])


def test_rows_before_1970_are_refused(broker: Broker) -> None:
    with pytest.raises(PenstockError, match="before 1970"):
        write_plainly(options(broker, topic="t"), [arrow_rows(value=["a"], timestamp=[at_ms(-5)])])
