"""Every event goes to the files; those worth it to the topic; none that writing logs has caused."""

import json
import logging

from tests.broker.logging.logged import SetClock, listening

from penstock.broker.logging.bounded_queue import BoundedQueue
from penstock.broker.logging.collector import LogCollector
from penstock.broker.logging.feeding import feeding
from penstock.broker.logging.repetitions import COUNT_MAX, WINDOW_MS

MANY = 1_000_000


def collector(clock: SetClock) -> LogCollector:
    return LogCollector(clock, is_for_files=True, is_for_topic=True)


def taken(queue: BoundedQueue | None) -> list[dict[str, object]]:
    assert queue is not None
    return [json.loads(each.line(1)) for each in queue.take(count_max=MANY, bytes_max=MANY)]


def test_details_go_to_files_only() -> None:
    collecting = collector(SetClock())
    with listening(collecting) as logger:
        logger.debug("detail")
        logger.info("news")

    assert [each["event"] for each in taken(collecting.files)] == ["detail", "news"]
    assert [each["event"] for each in taken(collecting.topic)] == ["news"]


def test_what_the_feed_causes_stays_out_of_the_topic() -> None:
    collecting = collector(SetClock())
    with listening(collecting) as logger, feeding():
        logger.warning("entries cannot be fed")

    assert len(taken(collecting.files)) == 1
    assert taken(collecting.topic) == []


def test_repetitions_are_told_once_their_time_is_over() -> None:
    clock = SetClock()
    collecting = collector(clock)
    with listening(collecting) as logger:
        for number in range(COUNT_MAX + 7):
            logger.info("peer fails", extra={"number": number})
        assert len(taken(collecting.files)) == COUNT_MAX
        collecting.tick()
        assert taken(collecting.files) == []
        clock.now_ms += WINDOW_MS
        collecting.tick()

    (told,) = taken(collecting.files)
    assert (told["event"], told["of_event"], told["count"]) == (
        "repeated events were left out",
        "peer fails",
        7,
    )
    assert taken(collecting.topic)[-1]["event"] == "repeated events were left out"


def test_dropped_entries_are_told_by_level_once_there_is_room() -> None:
    collecting = collector(SetClock())
    queue = collecting.topic = BoundedQueue(count_max=4)
    with listening(collecting) as logger:
        for level in (logging.INFO, logging.INFO, logging.INFO, logging.INFO, logging.WARNING, logging.ERROR):
            logger.log(level, "news")
        collecting.tick()
        assert len(taken(queue)) == 4, "nothing is told while there is no room to tell it"
        collecting.tick()

    (told,) = taken(queue)
    assert (told["event"], told["count"], told["by_level"]) == (
        "entries were dropped",
        2,
        {"warning": 1, "error": 1},
    )


def test_process_without_files_and_topic_keeps_nothing() -> None:
    collecting = LogCollector(SetClock(), is_for_files=False, is_for_topic=False)
    with listening(collecting) as logger:
        logger.error("news")
        collecting.tick()

    assert (collecting.files, collecting.topic) == (None, None)
