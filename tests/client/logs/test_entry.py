"""Entries are read back as they were written; anything else is no entry."""

import pytest
from tests.broker.logging.logged import NOON_MS, entry

from penstock.client.logs.entry import parse_entry


def test_entry_of_a_broker_is_read_back() -> None:
    found = parse_entry(entry("leader elected", partition="orders-3", count=2).line(7))

    assert found is not None
    assert (found.time_ms, found.level, found.node) == (NOON_MS, "info", 7)
    assert (found.component, found.event) == ("broker.quorum", "leader elected")
    assert found.fields == {"partition": "orders-3", "count": 2}
    assert list(found.document())[:5] == ["time", "level", "node", "component", "event"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"7",
        b"[]",
        b"\xff",
        b'{"time": "2024-10-04T12:00:00+00:00", "level": "info"}',
        b'{"time": 7, "level": "info", "node": 1, "component": "c", "event": "e"}',
        b'{"time": "then", "level": "info", "node": 1, "component": "c", "event": "e"}',
        b'{"time": "2024-10-04T12:00:00", "level": "info", "node": "x", "component": "c", "event": "e"}',
        b"[" * 100_000,
    ],
)
def test_anything_else_is_no_entry(line: bytes) -> None:
    assert parse_entry(line) is None
