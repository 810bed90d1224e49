"""The log of a broker in a thread: its own lines are its own, and everybody else's stay where they were."""

import logging
import threading
from functools import partial

import pytest

from penstock.testing.broker_log import LINES_KEPT_MAX, BrokerLog

LOGGER = logging.getLogger("penstock.broker.of_a_test")


def log_in_thread(log: BrokerLog, *events: str) -> None:
    def work() -> None:
        with log.of_this_thread():
            for event in events:
                LOGGER.info(event, extra={"number": 7})

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_lines_of_the_thread_are_kept_with_their_facts(caplog: pytest.LogCaptureFixture) -> None:
    log = BrokerLog()
    log_in_thread(log, "disk is full")
    assert log.text().endswith("disk is full number=7")
    assert not caplog.records


def test_lines_of_other_threads_go_where_they_went_before(caplog: pytest.LogCaptureFixture) -> None:
    log = BrokerLog()
    with log.of_this_thread():
        for tell in (partial(LOGGER.info, "quiet"), partial(LOGGER.warning, "loud")):
            other = threading.Thread(target=tell)
            other.start()
            other.join()
    assert [record.getMessage() for record in caplog.records] == ["loud"]
    assert log.text() == ""


def test_loggers_are_left_as_they_were() -> None:
    level, filters = LOGGER.level, list(LOGGER.filters)
    log_in_thread(BrokerLog(), "x")
    assert (LOGGER.level, LOGGER.filters) == (level, filters)


def test_long_log_loses_its_beginning() -> None:
    log = BrokerLog()
    for number in range(LINES_KEPT_MAX + 10):
        log.add(str(number))
    assert log.text().splitlines()[0] == "10"
    assert log.tail().splitlines()[-1] == str(LINES_KEPT_MAX + 9)
