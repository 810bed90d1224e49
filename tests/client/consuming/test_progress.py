"""How far the caller has seen."""

import pytest
from confluent_kafka import Message as RawMessage

from penstock import TopicPartition
from penstock.client.consuming.message import Formats
from penstock.client.consuming.progress import Progress

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def put_off(progress: Progress, places: list[tuple[TopicPartition, int]]) -> None:
    raw = [RawMessage(topic=at.topic, partition=at.partition, offset=offset) for at, offset in places]
    progress.put_off(Formats(None, None).messages(raw), raw)


def filled(places: list[tuple[TopicPartition, int]], *, only_topic: str | None = None) -> Progress:
    progress = Progress()
    progress.only_topic = only_topic
    raw = [RawMessage(topic=at.topic, partition=at.partition, offset=offset) for at, offset in places]
    progress.add(Formats(None, None).messages(raw), raw)
    return progress


@pytest.mark.parametrize("only_topic", ["t", None])
def test_what_was_handed_over_is_seen_and_nothing_else(only_topic: str | None) -> None:
    progress = filled([(A, 3), (B, 7), (A, 5), (B, 8)], only_topic=only_topic)
    assert progress.seen() == {}
    assert len(progress.take(3)) == 3
    assert progress.seen() == {A: 6, B: 8}
    next(progress.rest)
    assert progress.is_used_up
    assert progress.seen() == {A: 6, B: 9}


def test_dropped_partition_is_not_handed_over_and_its_first_offset_is_told() -> None:
    progress = filled([(A, 3), (B, 7), (A, 5), (B, 8), (A, 6)])
    taking = progress.rest
    assert next(taking).offset == 3
    assert progress.drop([A]) == {A: 5}
    assert list(taking) == []
    assert [each.topic_partition for each in progress.rest] == [B, B]
    assert progress.seen() == {A: 4, B: 9}
    assert progress.drop([A, B]) == {}


def test_forgotten_partition_is_not_seen_any_more() -> None:
    progress = filled([(A, 3), (B, 7), (A, 5)])
    progress.take(2)
    progress.forget([A])
    assert progress.seen() == {B: 8}
    assert progress.is_used_up


def test_nothing_is_handed_over_once_everything_was_dropped() -> None:
    progress = filled([(A, 3), (B, 7)])
    taking = progress.rest
    next(taking)
    progress.drop_all()
    assert list(taking) == progress.take(5) == []
    assert progress.is_used_up
    assert progress.seen() == {A: 4}


def test_lists_that_wait_are_handed_over_in_order_and_seen_then() -> None:
    progress = filled([(A, 3)])
    put_off(progress, [(A, 4), (B, 7)])
    put_off(progress, [(A, 5)])
    assert progress.go_on()
    assert [each.offset for each in progress.take(5)] == [3]
    assert progress.go_on()
    assert [each.offset for each in progress.take(1)] == [4]
    assert progress.seen() == {A: 5}
    assert progress.go_on()
    assert [each.offset for each in progress.take(5)] == [7]
    assert progress.has_waiting
    assert progress.go_on()
    assert [each.offset for each in progress.take(5)] == [5]
    assert not progress.go_on()
    assert progress.seen() == {A: 6, B: 8}


def test_first_unseen_message_may_be_one_that_waits() -> None:
    progress = filled([(A, 3)])
    put_off(progress, [(B, 7), (B, 8)])
    assert progress.first_unseen(B) == 7
    progress.take(1)
    assert progress.first_unseen(A) is None


def test_dropped_partition_is_dropped_from_what_waits() -> None:
    progress = filled([(A, 3), (B, 7)])
    put_off(progress, [(A, 4), (B, 8)])
    put_off(progress, [(B, 9)])
    assert progress.take(1)[0].offset == 3
    assert progress.drop([A]) == {A: 4}
    assert [each.offset for each in progress.take(5)] == [7, 8, 9]
    assert progress.drop([B]) == {}
    put_off(progress, [(A, 5)])
    progress.drop_all()
    assert not progress.go_on()


def test_lists_that_were_handed_over_are_kept_until_they_are_let_go_one_by_one() -> None:
    progress = filled([(A, 0)])
    for offset in (1, 2, 3):
        put_off(progress, [(A, offset)])
    while progress.go_on():
        progress.take(1)
    assert len(progress._used) == 3
    progress.let_one_go()
    assert [messages[0].offset for messages, _ in progress._used] == [1, 2]
    progress.let_used_go()
    progress.let_one_go()
    assert not progress._used


@pytest.mark.parametrize("only_topic", ["t", None])
def test_beginning_is_the_first_that_was_handed_over_or_what_was_said(only_topic: str | None) -> None:
    progress = filled([(B, 7), (A, 3), (A, 5), (B, 8)], only_topic=only_topic)
    progress.begin({B: 2, A: -2})
    progress.take(3)
    assert progress.began() == {A: 3, B: 2}
    progress.forget([A, B])
    assert progress.began() == {}
