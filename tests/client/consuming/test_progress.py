"""How far the caller has seen."""

import pytest
from confluent_kafka import Message as RawMessage

from penstock import TopicPartition
from penstock.client.consuming.message import Formats
from penstock.client.consuming.progress import Progress

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


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
