"""What is kept of an event."""

import json
import logging
import sys

from tests.broker.logging.logged import NOON_MS, entry, record

from penstock.broker.logging.entry import ENTRY_BYTES_MAX, make_entry
from penstock.broker.logging.feeding import feeding


def test_entry_says_who_speaks_of_what() -> None:
    made = entry("leader elected", partition="orders-3", isr=[1, 2])

    assert json.loads(made.line(7)) == {
        "node": 7,
        "time": "2024-10-04T12:00:00.000+00:00",
        "level": "info",
        "component": "broker.quorum",
        "event": "leader elected",
        "partition": "orders-3",
        "isr": [1, 2],
    }
    assert made.time_ms == NOON_MS


def test_broker_without_a_number_is_nobody() -> None:
    assert json.loads(entry().line(None))["node"] is None


def test_field_cannot_take_the_place_of_what_the_entry_says_itself() -> None:
    document = json.loads(entry("started", node=9, time="now", component="x").line(1))

    assert document["node"] == 1
    assert document["component"] == "broker.quorum"
    assert (document["time_"], document["component_"]) == ("now", "x")


def test_entry_beyond_the_limit_loses_its_fields() -> None:
    made = entry("request failed", client="x" * ENTRY_BYTES_MAX)

    assert len(made.body) < 1_000
    assert json.loads(made.line(1))["left_out"].startswith("fields of ")


def test_line_breaks_of_a_client_do_not_break_the_line() -> None:
    line = entry("request failed", client='x\n{"event": "fake"}\x1b[2J').line(1)

    assert b"\n" not in line
    assert b"\x1b" not in line


def test_exception_is_told_with_its_trace() -> None:
    try:
        raise ValueError("of no use")
    except ValueError:
        failed = record("task failed", level=logging.ERROR, exc_info=sys.exc_info())

    assert "ValueError: of no use" in json.loads(make_entry(failed).line(1))["exception"]


def test_entry_that_writing_logs_caused_is_marked() -> None:
    with feeding():
        assert entry().is_of_feed
    assert not entry().is_of_feed
