"""Where a consumer stands, and how it moves."""

import threading
from datetime import UTC, datetime

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill, grouped
from tests.client.reading import take, values
from tests.conftest import UniqueName

from penstock import Consumer, Message, OffsetResetPolicy, Producer
from penstock.testing import Broker


def test_seeking_moves_where_it_reads(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    fill(broker, topic, 10)
    fill(broker, topic, 10, partition=1, first=100)
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0), (topic, 1)])
        consumer.seek((topic, 0), 8)
        consumer.seek((topic, 1), 9)
        assert sorted(values(take(consumer, 3))) == [b"109", b"8", b"9"]
        consumer.seek_to_beginning([(topic, 1)])
        assert consumer.poll(20)[0].value == b"100"
        consumer.seek_to_end()
        assert consumer.poll(0.3) == []
        fill(broker, topic, 1, first=77)
        assert values(consumer.poll(20)) == [b"77"]


def test_seeking_to_a_time_finds_the_first_message_since(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        for second in range(5):
            producer.send(topic, b"%d" % second, timestamp_ms=second * 1000 + 1)
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        consumer.seek_to_time(1_002)
        assert consumer.poll(20)[0].value == b"2"
        consumer.seek_to_time(datetime(1970, 1, 1, 0, 0, 4, tzinfo=UTC))
        assert consumer.poll(20)[0].value == b"4"
        consumer.seek_to_time(datetime(2100, 1, 1, tzinfo=UTC))
        assert consumer.poll(0.3) == []


def test_paused_partition_gives_nothing_and_loses_nothing(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic(2)
    fill(broker, topic, 10)
    fill(broker, topic, 10, partition=1, first=100)
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0), (topic, 1)])
        stream = consumer.messages(idle_timeout=3)
        first = next(stream)
        paused = first.partition
        consumer.pause([first.topic_partition])
        assert {message.partition for message in stream} == {1 - paused}
        assert consumer.position([(topic, paused)]) == {(topic, paused): 1}
        consumer.resume()
        assert [message.offset for message in consumer.messages(idle_timeout=3)] == list(range(1, 10))


def test_lag_is_what_is_there_and_was_not_read(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic = make_topic(2)
    fill(broker, topic, 10)
    fill(broker, topic, 5, partition=1)
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.lag().partitions == {(topic, 0): 10}
        take(consumer, 4)
        assert consumer.lag().total == 6
        consumer.commit()
        consumer.assign([(topic, 0), (topic, 1)])
        assert consumer.lag().partitions == {(topic, 0): 6, (topic, 1): 5}
        fill(broker, topic, 3, partition=1)
        assert consumer.lag().total == 14


def test_rewind_goes_back_to_what_is_committed(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 10)
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.assign([(topic, 0)])
        take(consumer, 3)
        consumer.rewind()
        assert take(consumer, 3)[0].offset == 0
        consumer.commit()
        take(consumer, 3)
        consumer.rewind()
        assert take(consumer, 3)[0].offset == 3


@pytest.mark.parametrize("reset", ["latest", "none", "earliest"])
def test_rewind_goes_back_to_where_reading_began_when_nothing_is_committed(
    broker: str, topic: str, unique: UniqueName, reset: OffsetResetPolicy
) -> None:
    fill(broker, topic, 10)
    with Consumer(
        bootstrap_servers=broker, group_id=unique("group"), enable_auto_commit=False, auto_offset_reset=reset
    ) as consumer:
        consumer.assign({(topic, 0): 4})
        consumer.rewind()
        assert take(consumer, 3)[0].offset == 4
        consumer.rewind()
        assert take(consumer, 3)[0].offset == 4
        consumer.seek((topic, 0), 6)
        take(consumer, 2)
        consumer.rewind()
        assert take(consumer, 3)[0].offset == 6


def test_rewind_of_what_came_after_the_end_reads_it_again(
    broker: str, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 10)
    with Consumer(bootstrap_servers=broker, group_id=unique("group"), enable_auto_commit=False) as consumer:
        consumer.subscribe(topic)
        wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), what="the partition")
        wait_until(lambda: _filled_and_read(broker, topic, consumer), what="a message")
        began = consumer.position()[consumer.assignment()[0]] or 0
        fill(broker, topic, 5)
        assert take(consumer, 5)[0].offset == began
        consumer.rewind()
        assert take(consumer, 5)[0].offset < began


def _filled_and_read(broker: str, topic: str, consumer: Consumer) -> list[Message]:
    fill(broker, topic, 1)
    return consumer.poll(0.2)


def test_position_and_lag_know_where_it_was_sought(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 10)
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.assign({(topic, 0): 7})
        assert (consumer.position(), consumer.lag().total) == ({(topic, 0): 7}, 3)
        take(consumer, 3)
        consumer.commit()
        consumer.seek((topic, 0), 2)
        assert (consumer.position(), consumer.lag().total) == ({(topic, 0): 2}, 8)
        take(consumer, 1)
        assert (consumer.position(), consumer.lag().total) == ({(topic, 0): 3}, 7)


def test_position_is_unknown_before_the_first_message(broker: str, topic: str) -> None:
    with Consumer(bootstrap_servers=broker) as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.position() == {(topic, 0): None}


def test_offsets_are_found_once_a_broker_that_died_is_back() -> None:
    with Broker() as mortal:
        topic = mortal.create_topic()
        fill(mortal.bootstrap_servers, topic, 10)
        with Consumer(bootstrap_servers=mortal.bootstrap_servers, auto_offset_reset="earliest") as consumer:
            consumer.assign([(topic, 0)])
            take(consumer, 4)
            mortal.kill()
            back = threading.Timer(1, mortal.restart)
            back.start()
            try:
                assert consumer.lag().total == 6
                consumer.seek_to_beginning()
                assert take(consumer, 1)[0].offset == 0
            finally:
                back.join()
