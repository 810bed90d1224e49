"""Partitions come and go."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from tests.broker_process import wait_until
from tests.client.conftest import MakeTopic
from tests.client.consuming.test_consumer import fill, grouped
from tests.conftest import UniqueName

from penstock import Admin, Consumer, TopicPartition
from penstock.client.errors import GroupError

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
