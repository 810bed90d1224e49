"""Partitions come and go."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill, grouped
from tests.client.reading import take
from tests.conftest import UniqueName

from penstock import Admin, Consumer, Message, TopicPartition
from penstock.client.errors import ConfigurationError, GroupError

PROTOCOLS = [
    {"assignment_strategy": "range"},
    {"assignment_strategy": "cooperative-sticky"},
    {"group_protocol": "consumer"},
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: "-".join(each.values()))
def test_callbacks_hear_of_what_comes_and_goes(
    broker: str, make_topic: MakeTopic, unique: UniqueName, protocol: dict[str, str]
) -> None:
    topic, group = make_topic(2), unique("group")
    owned: set[TopicPartition] = set()
    gone: list[TopicPartition] = []

    def on_revoked(partitions: Sequence[TopicPartition]) -> None:
        owned.difference_update(partitions)
        gone.extend(partitions)

    with grouped(broker, group, **protocol) as first:
        first.subscribe(topic, on_assigned=owned.update, on_revoked=on_revoked)
        wait_until(lambda: first.poll(0.1) or len(owned) == 2, what="both partitions")
        with grouped(broker, group, **protocol) as second:
            second.subscribe(topic)
            wait_until(
                lambda: first.poll(0.1) or second.poll(0.1) or (len(owned) == 1 and second.assignment()),
                what="a share for the second",
                seconds=40,
            )
            assert sorted([*owned, *second.assignment()]) == [(topic, 0), (topic, 1)]
            assert gone
    assert not owned


def test_seek_in_the_callback_says_where_to_start(broker: str, topic: str, unique: UniqueName) -> None:
    fill(broker, topic, 10)
    with grouped(broker, unique("group")) as consumer:
        consumer.subscribe(topic, on_assigned=lambda partitions: consumer.seek(partitions[0], 7))
        assert [message.offset for message in consumer.messages(idle_timeout=3)] == [7, 8, 9]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: "-".join(each.values()))
def test_unsubscribing_has_everything_revoked_and_committed(
    broker: str, admin: Admin, topic: str, unique: UniqueName, protocol: dict[str, str]
) -> None:
    fill(broker, topic, 10)
    group = unique("group")
    gone: list[TopicPartition] = []
    with grouped(broker, group, enable_auto_commit=False, **protocol) as consumer:

        def on_revoked(partitions: Sequence[TopicPartition]) -> None:
            consumer.commit()
            gone.extend(partitions)

        consumer.subscribe(topic, on_revoked=on_revoked)
        wait_until(lambda: consumer.poll(0.2, 4), what="messages")
        consumer.unsubscribe()
        assert gone == [(topic, 0)]
        assert consumer.assignment() == []
        assert consumer.poll(0.2) == []
    assert admin.group_offsets(group) == {(topic, 0): 4}


def test_partition_assigned_by_hand_after_a_subscription_is_not_taken_away(
    broker: str, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 10)
    with grouped(broker, unique("group")) as consumer:
        consumer.subscribe(topic)
        wait_until(lambda: consumer.poll(0.2, 4), what="messages")
        consumer.unsubscribe()
        consumer.assign({(topic, 0): 2})
        assert [message.offset for message in consumer.messages(idle_timeout=2)] == list(range(2, 10))
        assert consumer.assignment() == [(topic, 0)]


def test_commit_in_the_callback_still_works(
    broker: str, admin: Admin, topic: str, unique: UniqueName
) -> None:
    fill(broker, topic, 10)
    group = unique("group")
    with grouped(broker, group, enable_auto_commit=False) as consumer:
        consumer.subscribe(topic, on_revoked=lambda _: consumer.commit())
        wait_until(lambda: consumer.poll(0.2, 4), what="messages")
    assert admin.group_offsets(group) == {(topic, 0): 4}


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: "-".join(each.values()))
def test_second_subscription_reads_on_without_a_gap(
    broker: str, admin: Admin, make_topic: MakeTopic, unique: UniqueName, protocol: dict[str, str]
) -> None:
    topic, other, group = make_topic(), make_topic(), unique("group")
    fill(broker, topic, 600)
    fill(broker, other, 5)
    with grouped(broker, group, **protocol) as consumer:
        consumer.subscribe(topic)
        stream = consumer.messages()
        seen = [(each.topic, each.offset) for each in islice(stream, 10)]
        consumer.subscribe([topic, other])
        wait_until(lambda: _add_all(seen, consumer.poll(0.2)) >= 605, what="all messages")
    expected = [*((topic, offset) for offset in range(600)), *((other, offset) for offset in range(5))]
    assert sorted(seen) == sorted(expected)
    assert admin.group_offsets(group) == {(topic, 0): 600, (other, 0): 5}


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: "-".join(each.values()))
def test_subscription_to_another_topic_gives_up_the_first_where_it_was(
    broker: str, admin: Admin, make_topic: MakeTopic, unique: UniqueName, protocol: dict[str, str]
) -> None:
    topic, other, group = make_topic(), make_topic(), unique("group")
    fill(broker, topic, 600)
    fill(broker, other, 5)
    with grouped(broker, group, **protocol) as consumer:
        consumer.subscribe(topic)
        seen = [(each.topic, each.offset) for each in islice(consumer.messages(), 10)]
        consumer.subscribe(other)
        wait_until(lambda: _add_all(seen, consumer.poll(0.2)) and (other, 4) in seen, what="the other topic")
    of_first = [offset for name, offset in seen if name == topic]
    assert of_first == list(range(len(of_first)))
    # librdkafka calls it lost where it is cooperative, and commits nothing then: but never what was not seen.
    assert (admin.group_offsets(group).get((topic, 0)) or 0) in (0, len(of_first))  # type: ignore[call-overload]


def _add_all(seen: list[tuple[str, int]], messages: list[Message]) -> int:
    seen += [(each.topic, each.offset) for each in messages]
    return len(seen)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: "-".join(each.values()))
def test_partition_that_went_is_not_committed_later_though_the_callback_raised(
    broker: str, make_topic: MakeTopic, unique: UniqueName, protocol: dict[str, str]
) -> None:
    topic, group = make_topic(2), unique("group")
    fill(broker, topic, 10)
    fill(broker, topic, 10, partition=1)

    def on_revoked(partitions: Sequence[TopicPartition]) -> None:
        raise ZeroDivisionError

    with grouped(broker, group, enable_auto_commit=False, **protocol) as first:
        first.subscribe(topic, on_revoked=on_revoked)
        wait_until(lambda: first.poll(0.2, 3) and len(first.seen_offsets()) == 2, what="both partitions")
        with grouped(broker, group, enable_auto_commit=False, **protocol) as second:
            second.subscribe(topic)
            with pytest.raises(ZeroDivisionError):
                wait_until(lambda: first.poll(0.1, 1) is second.poll(0.1, 1), what="a share", seconds=40)
            assert len(first.seen_offsets()) < 2
            first.subscribe(topic)  # It is to end without the callback.


@pytest.mark.parametrize("error", [ValueError("mine"), RuntimeError("the file is closed")], ids=repr)
def test_what_a_callback_raises_comes_out_of_poll_as_it_is(
    broker: str, topic: str, unique: UniqueName, error: Exception
) -> None:
    def on_assigned(partitions: Sequence[TopicPartition]) -> None:
        raise error

    with grouped(broker, unique("group")) as consumer:
        consumer.subscribe(topic, on_assigned=on_assigned)
        with pytest.raises(type(error)) as caught:
            wait_until(lambda: consumer.poll(0.1), what="the callback", seconds=40)
    assert caught.value is error


def test_what_librdkafka_would_not_survive_is_refused_in_a_callback(
    broker: str, topic: str, unique: UniqueName
) -> None:
    refused: list[str] = []
    with grouped(broker, unique("group")) as consumer:

        def on_assigned(partitions: Sequence[TopicPartition]) -> None:
            for call in (consumer.poll, consumer.unsubscribe, lambda: consumer.assign([]), consumer.close):
                with pytest.raises(ConfigurationError, match="when poll has returned"):
                    call()
                refused.append(str(call))

        consumer.subscribe(topic, on_assigned=on_assigned, on_revoked=lambda _: consumer.close())
        wait_until(lambda: consumer.poll(0.1) or refused, what="the callback", seconds=40)
    assert len(refused) == 4


def test_all_partitions_are_those_that_come_while_they_come(
    broker: str, make_topic: MakeTopic, unique: UniqueName
) -> None:
    topic = make_topic(2)
    fill(broker, topic, 10)
    fill(broker, topic, 10, partition=1)
    with Consumer(bootstrap_servers=broker, group_id=unique("group")) as consumer:
        consumer.subscribe(topic, on_assigned=lambda _: consumer.seek_to_beginning())
        assert len(list(consumer.messages(idle_timeout=3))) == 20
    group = unique("group")
    with grouped(broker, group, enable_auto_commit=False) as consumer:
        consumer.commit({(topic, 0): 8, (topic, 1): 9})

        def on_assigned(partitions: Sequence[TopicPartition]) -> None:
            consumer.seek_to_beginning()
            consumer.rewind()
            assert consumer.position(partitions) == {(topic, 0): 8, (topic, 1): 9}

        consumer.subscribe(topic, on_assigned=on_assigned)
        assert sorted(each.offset for each in consumer.messages(idle_timeout=3)) == [8, 9, 9]


@pytest.mark.parametrize("protocol", PROTOCOLS[1:], ids=lambda each: "-".join(each.values()))
def test_partition_that_is_kept_can_be_sought_while_others_come(
    broker: str, make_topic: MakeTopic, unique: UniqueName, protocol: dict[str, str]
) -> None:
    topic, other = make_topic(), make_topic()
    fill(broker, topic, 10)
    with grouped(broker, unique("group"), **protocol) as consumer:
        consumer.subscribe(topic)
        assert len(take(consumer, 10)) == 10
        consumer.subscribe([topic, other], on_assigned=lambda _: consumer.seek((topic, 0), 4))
        assert [each.offset for each in take(consumer, 6)] == list(range(4, 10))


@pytest.mark.slow
def test_member_that_does_not_poll_loses_its_partitions_and_hears_of_it(
    broker: str, admin: Admin, topic: str, unique: UniqueName
) -> None:
    group = unique("group")
    fill(broker, topic, 10)
    lost: list[TopicPartition] = []
    with grouped(broker, group, session_timeout_ms=2000, max_poll_interval_ms=2000) as sleeper:
        sleeper.subscribe(topic, on_lost=lost.extend)
        wait_until(lambda: sleeper.poll(0.1, 3), what="messages")
        wait_until(lambda: admin.describe_group(group).state == "empty", what="its removal", seconds=30)
        wait_until(lambda: polled_in_vain(sleeper) and lost, what="the bad news", seconds=30)
    assert lost == [(topic, 0)]


def polled_in_vain(consumer: Consumer) -> bool:
    with suppress(GroupError):
        consumer.poll(0.1)
    return True
