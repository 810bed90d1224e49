"""Records that wait until somebody knows how many partitions their topic has."""

import math
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.broker_process import wait_until

from penstock.client.asynchronous.uncounted import Uncounted, Waiting
from penstock.client.config.producer_config import ProducerConfig
from penstock.client.errors import AuthorizationFailed, RequestTimedOut, UnknownTopic
from penstock.client.producing.record import Record


class Counts:
    """Knows of a topic what it was told, and says of others that they do not exist (yet)."""

    def __init__(self) -> None:
        self.answers: dict[str, int | Exception] = {}

    def known(self, topic: str) -> int | None:
        return None

    def ask(self, topic: str, seconds: float) -> int:
        answer = self.answers.get(topic, UnknownTopic("not there", is_retriable=True))
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def counts() -> Counts:
    return Counts()


@pytest.fixture
def news() -> threading.Semaphore:
    return threading.Semaphore(0)


@pytest.fixture
def uncounted(counts: Counts, news: threading.Semaphore) -> Iterator[Uncounted]:
    config = ProducerConfig(retry_backoff_ms=1, retry_backoff_max_ms=2)
    made = Uncounted(counts, config, news.release)  # type: ignore[arg-type]
    yield made
    made.stop()


def waiting(topic: str, name: str, until: float = math.inf) -> Waiting:
    delivery: Any = name
    return Waiting(Record(topic, b""), delivery, until)


def names(records: Iterable[Waiting | tuple[object, Exception]]) -> list[object]:
    return [each.delivery if isinstance(each, Waiting) else each[0] for each in records]


def moved_all(uncounted: Uncounted, topic: str, moved: deque[Waiting]) -> bool:
    uncounted.move_known(moved)
    return topic not in uncounted


def test_topic_that_becomes_known_gives_its_records_back_in_order(
    uncounted: Uncounted, counts: Counts, news: threading.Semaphore
) -> None:
    moved = deque([waiting("c", "first")])
    for topic, name in [("a", "a1"), ("b", "b1"), ("a", "a2")]:
        uncounted.add(waiting(topic, name))
    news.acquire()
    uncounted.move_known(moved)
    assert names(moved) == ["first"]
    counts.answers["a"] = 3
    wait_until(lambda: moved_all(uncounted, "a", moved), what="an answer")
    assert names(moved) == ["first", "a1", "a2"]
    assert "b" in uncounted
    assert len(uncounted) == 1


def test_those_that_waited_long_enough_hear_why(uncounted: Uncounted, news: threading.Semaphore) -> None:
    uncounted.add(waiting("a", "a1", until=5.0))
    uncounted.add(waiting("a", "a2", until=7.0))
    news.acquire()
    assert uncounted.take_late(4.0) == []
    late = uncounted.take_late(6.0)
    assert names(late) == ["a1"]
    assert isinstance(late[0][1], UnknownTopic)
    assert names(uncounted.take_late(math.inf)) == ["a2"]
    assert "a" not in uncounted


def test_hopeless_topic_lets_nobody_wait(
    uncounted: Uncounted, counts: Counts, news: threading.Semaphore
) -> None:
    counts.answers["a"] = AuthorizationFailed("no")
    counts.answers["b"] = KeyError("something of librdkafka's")
    uncounted.add(waiting("a", "a1"))
    uncounted.add(waiting("b", "b1"))
    news.acquire()
    news.acquire()
    assert names(uncounted.take_late(0.0)) == ["a1", "b1"]
    assert not len(uncounted)


def test_asking_ends_with_the_last_topic_and_begins_again_with_the_next(
    uncounted: Uncounted, counts: Counts
) -> None:
    counts.answers = {"a": 1, "b": 1}
    moved: deque[Waiting] = deque()
    for topic in "ab":
        uncounted.add(waiting(topic, topic))
        wait_until(lambda: uncounted._thread is None, what="the end")
        uncounted.move_known(moved)
    assert names(moved) == ["a", "b"]


def test_nobody_was_asked_yet_is_a_reason_too(uncounted: Uncounted) -> None:
    uncounted.stop()
    uncounted.add(waiting("a", "a1"))
    [(_, error)] = uncounted.take_late(math.inf)
    assert isinstance(error, RequestTimedOut)
