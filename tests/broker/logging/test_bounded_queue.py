"""A queue that never makes anybody wait, and knows what it dropped."""

import logging
import threading
import time

from tests.broker.logging.logged import entry

from penstock.broker.logging.bounded_queue import BoundedQueue

MANY = 1_000_000


def events(queue: BoundedQueue, *, count_max: int = 100, bytes_max: int = MANY) -> list[str]:
    return [each.event for each in queue.take(count_max=count_max, bytes_max=bytes_max)]


def test_entries_come_in_their_order_a_few_at_a_time() -> None:
    queue = BoundedQueue()
    for event in ("a", "b", "c"):
        queue.put(entry(event))

    assert events(queue, count_max=2) == ["a", "b"]
    assert events(queue) == ["c"]
    assert events(queue) == []


def test_taking_is_bounded_by_bytes_but_never_takes_nothing() -> None:
    queue = BoundedQueue()
    for event in ("a", "b"):
        queue.put(entry(event))

    assert events(queue, bytes_max=1) == ["a"]


def test_full_queue_drops_what_comes_and_counts_by_level() -> None:
    queue = BoundedQueue(count_max=1)
    for level in (logging.INFO, logging.INFO, logging.ERROR):
        queue.put(entry("a", level=level))

    assert len(queue) == 1
    assert queue.take_dropped() == {"info": 1, "error": 1}
    assert queue.take_dropped() == {}


def test_bytes_are_bounded_too() -> None:
    size = len(entry("a").body)
    queue = BoundedQueue(bytes_max=2 * size)
    for _ in range(3):
        queue.put(entry("a"))

    assert len(queue) == 2
    queue.take(count_max=1, bytes_max=MANY)
    queue.put(entry("a"))
    assert len(queue) == 2


def test_what_is_put_back_comes_first_and_its_oldest_are_dropped() -> None:
    queue = BoundedQueue(count_max=2)
    taken = [entry("a"), entry("b")]
    queue.put(entry("c"))
    queue.put_back(taken)

    assert events(queue) == ["b", "c"]
    assert queue.take_dropped() == {"info": 1}


def test_wake_is_not_lost_on_who_waits_a_moment_later() -> None:
    queue = BoundedQueue()
    queue.wake()
    began = time.monotonic()
    queue.wait(10.0)

    assert time.monotonic() - began < 5.0


def test_waiting_ends_when_something_comes() -> None:
    queue = BoundedQueue()
    waiting = threading.Thread(target=queue.wait, args=(30.0,))
    waiting.start()
    queue.put(entry())
    waiting.join(10.0)

    assert not waiting.is_alive()
