"""What is looked for is found, and nothing else."""

from typing import Any

import pytest

from penstock.client.logs.entry import FoundEntry
from penstock.client.logs.query import LogFilter, LogQuery
from penstock.model.errors import UsageError

ELECTED = FoundEntry(
    time_ms=1_000,
    level="warning",
    node=2,
    component="broker.quorum.raft_driver",
    event="Leads the quorum",
    fields={"term": 7, "leader": None, "cause": "a majority voted for it", "peers": [1, 3]},
)


def finds(query: LogQuery, fields: dict[str, Any] | None = None) -> bool:
    entry = ELECTED
    if fields is not None:
        entry = FoundEntry(
            time_ms=1_000, level="info", node=1, component="broker.control", event="moved", fields=fields
        )
    return LogFilter(query).admits(entry)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("leads THE", True),
        ("majority", True),
        ("cause=a maj", True),
        ("term=7", True),
        ("peers=[1, 3]", True),
        ("leader=null", True),
        ("m.jority", False),
        ("raft_driver", False),
    ],
)
def test_text_is_found_literally_in_event_and_fields(text: str, is_found: bool) -> None:
    assert finds(LogQuery(text=text)) is is_found


@pytest.mark.parametrize(
    ("pattern", "is_found"), [("m.jority", True), ("^leads", True), ("term=[89]", False), ("LEADS|x", True)]
)
def test_pattern_is_found_anywhere(pattern: str, is_found: bool) -> None:
    assert finds(LogQuery(pattern=pattern)) is is_found


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        (LogQuery(level="info"), True),
        (LogQuery(level="warn"), True),
        (LogQuery(level="ERROR"), False),
        (LogQuery(since_ms=1_000), True),
        (LogQuery(since_ms=1_001), False),
        (LogQuery(until_ms=1_001), True),
        (LogQuery(until_ms=1_000), False),
        (LogQuery(brokers=frozenset({2, 9})), True),
        (LogQuery(brokers=frozenset({1})), False),
        (LogQuery(component="raft"), True),
        (LogQuery(component="controller"), False),
        (LogQuery(event="leads"), True),
        (LogQuery(event="follows"), False),
        (LogQuery(fields={"term": "7"}), True),
        (LogQuery(fields={"term": "8"}), False),
        (LogQuery(fields={"peer": "3"}), True),
        (LogQuery(fields={"term": "7", "absent": "x"}), False),
    ],
)
def test_conditions_hold_or_not(query: LogQuery, is_found: bool) -> None:
    assert finds(query) is is_found


@pytest.mark.parametrize("wanted", ["3", "orders-3"])
@pytest.mark.parametrize("fields", [{"partition": "orders-3"}, {"partitions": ["a-1", "orders-3"]}])
def test_partition_is_found_by_number_and_by_name(wanted: str, fields: dict[str, Any]) -> None:
    assert finds(LogQuery(fields={"partition": wanted}), fields)
    assert not finds(LogQuery(fields={"partition": f"{wanted}1"}), fields)


@pytest.mark.parametrize(
    ("headers", "is_worth_a_look"),
    [
        ({"level": "error", "component": "broker.raft", "node": "2", "event": "x"}, True),
        ({"level": "info", "component": "broker.raft", "node": "2"}, False),
        ({"level": "error", "component": "broker.control", "node": "2"}, False),
        ({"level": "error", "component": "broker.raft", "node": "3"}, False),
        ({}, True),
    ],
)
def test_headers_tell_what_need_not_be_looked_at(headers: dict[str, str], is_worth_a_look: bool) -> None:
    query = LogQuery(level="warn", component="raft", brokers=frozenset({2}))

    assert LogFilter(query).may_admit(headers) is is_worth_a_look


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        (LogQuery(level="loud"), "Level 'loud' is none of debug, info"),
        (LogQuery(pattern="("), r"'\(' is no regular expression of RE2"),
        (LogQuery(text="a", pattern="b"), "exclude each other"),
    ],
)
def test_query_that_makes_no_sense_is_refused(query: LogQuery, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        LogFilter(query)
