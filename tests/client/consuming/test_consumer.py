"""The consumer against a real broker."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.reading import take, values
from tests.conftest import UniqueName
from tests.raw_kafka import Connection as RawConnection
from tests.raw_kafka import Record as RawRecord
from tests.raw_kafka import build_batch

from penstock import Admin, Consumer, ConsumerConfig, Message, OffsetResetPolicy, Producer, TopicPartition
from penstock.client.errors import (
    ClosedError,
    ConfigurationError,
    OffsetUnavailable,
    SerializationError,
    UnknownTopic,
)


def fill(broker: str, topic: str, count: int, *, partition: int = 0, first: int = 0) -> None:
    with Producer(bootstrap_servers=broker, linger_ms=1) as producer:
        producer.send_batch(
            [(topic, b"%d" % number, None, None, partition) for number in range(first, first + count)]
        )


def grouped(broker: str, group: str, **settings: Any) -> Consumer:
    return Consumer(bootstrap_servers=broker, group_id=group, auto_offset_reset="earliest", **settings)


def test_poll_returns_lists_of_at_most_so_many_messages(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 25)
    config = ConsumerConfig(bootstrap_servers=broker, group_id=unique("group"), max_poll_records=10)
    with Consumer(config, auto_offset_reset=OffsetResetPolicy.EARLIEST) as consumer:
        consumer.subscribe(topic)
        found: list[Message] = []
        lengths = []
        while len(found) < 25:
            found += (messages := consumer.poll(5))
            lengths.append(len(messages))
        assert consumer.poll(0.1) == []
    assert max(lengths) == 10
    assert [int(message.value) for message in found] == list(range(25))


def test_poll_returns_as_soon_as_there_is_a_message(broker: str, topic: str) -> None:
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.poll(0.1) == []
        fill(broker, topic, 1)
        began = time.monotonic()
        assert len(consumer.poll(60)) == 1
        assert time.monotonic() - began < 30


def test_message_has_all_its_fields_and_none_can_be_set(broker: str, topic: str) -> None:
    with Producer(bootstrap_servers=broker) as producer:
        producer.send(topic, b"v", key=b"k", headers={"h": b"1"}, timestamp_ms=1_500).result(20)
        producer.send(topic, b"v", key=b"k", headers={"h": b"1"}, timestamp_ms=1_500).result(20)
    with Consumer(bootstrap_servers=broker) as consumer:
        consumer.assign({(topic, 0): 0})
        first, second = take(consumer, 2)
        consumer.seek((topic, 0), 0)
        again = consumer.consume_one(20)
    assert (first.topic, first.partition, first.offset) == (topic, 0, 0)
    assert first.topic_partition == (topic, 0)
    assert (first.key, first.value, first.headers) == (b"k", b"v", (("h", b"1"),))
    assert (first.timestamp_ms, first.timestamp) == (
        1_500,
        datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC),
    )
    assert first.leader_epoch == 0
    assert first == again
    assert first != second
    assert len({first, second, again}) == 2
    assert f"topic={topic!r}, partition=0, offset=0" in repr(first)
    for name in ("topic", "value", "key", "offset", "anything"):
        with pytest.raises(AttributeError):
            setattr(first, name, b"x")


def test_iteration_gives_every_message_and_ends_when_idle(broker: str, topic: str) -> None:
    fill(broker, topic, 700)
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        assert [int(message.value) for message in consumer.messages(idle_timeout=1.0)] == list(range(700))


def test_iteration_follows_what_is_done_meanwhile(broker: str, topic: str) -> None:
    fill(broker, topic, 100)
    seen = []
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        for message in consumer:
            seen.append(message.offset)
            if message.offset == 2 and seen.count(2) == 1:
                consumer.seek((topic, 0), 1)
            if message.offset == 5:
                seen += [each.offset for each in take(consumer, 3)]
            if message.offset == 9:
                break
    assert seen == [0, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_consume_one_and_start_consuming(broker: str, topic: str) -> None:
    fill(broker, topic, 5)
    with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        first = consumer.consume_one(20)
        assert first is not None
        assert first.value == b"0"
        seen: list[bytes] = []

        def note(message: Message) -> bool:
            seen.append(message.value)
            return bool(message.value != b"3")

        consumer.start_consuming(note)
        assert seen == [b"1", b"2", b"3"]
        assert [message.value for message in consumer.poll(20)] == [b"4"]
        assert consumer.consume_one(0.1) is None


def test_pattern_subscribes_to_topics_whose_whole_name_matches(
    broker: str, admin: Admin, unique: UniqueName
) -> None:
    prefix = unique("pattern")
    for name in (f"{prefix}-a", f"{prefix}-b", f"x{prefix}-a", f"{prefix}-ab"):
        admin.create_topic(name)
        fill(broker, name, 1)
    with grouped(broker, unique("group")) as consumer:
        consumer.subscribe(pattern=f"{prefix}-[ab]")
        assert {message.topic for message in take(consumer, 2)} == {f"{prefix}-a", f"{prefix}-b"}
        assert sorted(consumer.assignment()) == [(f"{prefix}-a", 0), (f"{prefix}-b", 0)]


@pytest.mark.parametrize("pattern", ["{0}-a|{0}-b", "^{0}-a|{0}-b$"])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_alternatives_of_a_pattern_match_whole_names_each(
    broker: str, admin: Admin, unique: UniqueName, protocol: str, pattern: str
) -> None:
    prefix = unique("pattern")
    for name in (f"{prefix}-a", f"{prefix}-b", f"{prefix}-ab", f"x-{prefix}-b"):
        admin.create_topic(name)
    with grouped(broker, unique("group"), group_protocol=protocol) as consumer:
        consumer.subscribe(pattern=pattern.format(prefix))
        wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), what="partitions", seconds=40)
        assert sorted(consumer.assignment()) == [(f"{prefix}-a", 0), (f"{prefix}-b", 0)]


def test_topics_of_several_are_told_apart(broker: str, make_topic: MakeTopic, unique: UniqueName) -> None:
    one, other = make_topic(), make_topic()
    fill(broker, one, 3)
    fill(broker, other, 2)
    with grouped(broker, unique("group"), enable_auto_commit=False) as consumer:
        consumer.subscribe([one, other])
        wait_until(lambda: consumer.poll(0.3) and not consumer.lag().total, what="all messages")
        consumer.commit()
        assert consumer.committed() == {(one, 0): 3, (other, 0): 2}


def test_no_offset_and_no_policy_is_an_error(broker: str, topic: str, unique: UniqueName) -> None:
    with Consumer(bootstrap_servers=broker, group_id=unique(), auto_offset_reset="none") as consumer:
        consumer.assign([(topic, 0)])
        with pytest.raises(OffsetUnavailable, match="auto_offset_reset"):
            consumer.poll(20)


def test_topic_that_is_not_there_is_an_error(broker: str, unique: UniqueName) -> None:
    with grouped(broker, unique("group")) as consumer:
        consumer.subscribe(unique("nowhere"))
        with pytest.raises(UnknownTopic):
            wait_until(lambda: consumer.poll(1), what="an error")


def test_messages_before_an_error_come_before_it(broker: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    fill(broker, topic, 3)
    with Consumer(bootstrap_servers=broker, auto_offset_reset="none") as consumer:
        consumer.assign({(topic, 0): 0})
        assert values(consumer.poll(20)) == [b"0", b"1", b"2"]
        consumer.seek((topic, 0), 99)
        with pytest.raises(OffsetUnavailable):
            wait_until(lambda: consumer.poll(1), what="an error")


def test_consumer_group_protocol_of_brokers_works_too(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 3)
    with grouped(broker, unique("group"), group_protocol="consumer") as consumer:
        consumer.subscribe(topic)
        assert [message.value for message in consumer.messages(idle_timeout=3)] == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda consumer: consumer.subscribe("t"), "group_id=None"),
        (lambda consumer: consumer.subscribe("t"), r"without a group, .* assign\(\[\(topic, partition\)\]\)"),
        (lambda consumer: consumer.commit(), "group_id=None"),
        (lambda consumer: consumer.assign(["t"]), "is no partition"),
        (lambda consumer: consumer.seek(("t", 0), -5), "offset=-5"),
        (lambda consumer: consumer.seek_to_time(datetime(2020, 1, 1)), "no time zone"),  # noqa: DTZ001
        (lambda consumer: consumer.seek_to_time("yesterday"), "give a datetime"),
    ],
)
def test_call_that_makes_no_sense_is_refused(broker: str, call: Any, words: str) -> None:
    with Consumer(bootstrap_servers=broker) as consumer, pytest.raises(ConfigurationError, match=words):
        call(consumer)


def test_subscription_without_a_topic_is_refused(broker: str, unique: UniqueName) -> None:
    with (
        grouped(broker, unique("group")) as consumer,
        pytest.raises(ConfigurationError, match="names of topics"),
    ):
        consumer.subscribe()


def test_closed_consumer_says_so(broker: str) -> None:
    consumer = Consumer(bootstrap_servers=broker)
    consumer.close()
    consumer.close()
    for call in (consumer.poll, consumer.assignment, consumer.lag, consumer.unsubscribe):
        with pytest.raises(ClosedError):
            call()


def test_closing_ends_iteration(broker: str, topic: str) -> None:
    fill(broker, topic, 10)
    consumer = Consumer(bootstrap_servers=broker, auto_offset_reset="earliest")
    consumer.assign([(topic, 0)])
    messages = consumer.messages()
    assert next(messages).offset == 0
    consumer.close()
    with pytest.raises(ClosedError):
        next(messages)


def test_partition_is_equal_to_its_pair() -> None:
    assert {("t", 1): 5}[TopicPartition("t", 1)] == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda consumer: consumer.assign([("t", -1)]),
        lambda consumer: consumer.assign({("t", 2**31): 0}),
        lambda consumer: consumer.assign({("t", 0): "0"}),
        lambda consumer: consumer.commit({("t", 0): 2**63}),
        lambda consumer: consumer.seek(("t", 0), 2**63),
        lambda consumer: consumer.subscribe(pattern=""),
        lambda consumer: consumer.subscribe(pattern=5),
    ],
)
def test_what_is_no_place_and_no_pattern_is_refused(
    broker: str, unique: UniqueName, call: Callable[[Consumer], None]
) -> None:
    with grouped(broker, unique("group")) as consumer, pytest.raises(ConfigurationError):
        call(consumer)


def test_headers_with_a_name_that_is_no_text_are_refused_and_the_message_is_read(
    broker: str, topic: str
) -> None:
    many = [RawRecord(value=b"before") for _ in range(50)]  # Python calls differently after some.
    odd = RawRecord(value=b"odd", headers=((b"\xff", b"1"),))
    with RawConnection(broker) as connection:
        connection.produce(topic, 0, build_batch([*many, odd, RawRecord(value=b"next")]))
    with Consumer(bootstrap_servers=broker) as consumer:
        consumer.assign({(topic, 0): 0})
        *before, unreadable, after = take(consumer, 52)
    assert {message.headers for message in before} == {()}
    for _ in range(3):
        with pytest.raises(SerializationError, match=r"offset 50, has a name that is not UTF-8"):
            _ = unreadable.headers
    assert (unreadable.value, after.value, after.headers) == (b"odd", b"next", ())
    assert (unreadable == unreadable, unreadable == after) == (True, False)
