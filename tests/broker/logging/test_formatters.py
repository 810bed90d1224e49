"""How log lines look, to programs and to people."""

import io
import json
import logging

from penstock.broker.logging.formatters import HumanFormatter, JsonFormatter
from penstock.broker.logging.standard_error import configure_logging


def record(message: str, **fields: object) -> logging.LogRecord:
    made = logging.makeLogRecord(
        {"name": "penstock.broker.server", "msg": message, "levelno": logging.WARNING}
    )
    made.levelname = "WARNING"
    made.__dict__.update(fields)
    return made


def test_json_line_carries_event_component_and_fields() -> None:
    entry = json.loads(JsonFormatter().format(record("connection closed", address="10.0.0.1", count=3)))
    assert entry.pop("time").endswith("+00:00")
    assert entry == {
        "level": "warning",
        "component": "broker.server",
        "event": "connection closed",
        "address": "10.0.0.1",
        "count": 3,
    }


def test_line_breaks_of_a_client_do_not_break_the_line() -> None:
    hostile = record("request failed", client="x\nfake: all is well\x1b[2J")
    for formatter in (JsonFormatter(), HumanFormatter()):
        line = formatter.format(hostile)
        assert "\n" not in line
        assert "\x1b" not in line


def test_configured_log_is_json_where_nobody_watches() -> None:
    stream = io.StringIO()
    configure_logging(is_verbose=False, stream=stream)
    logging.getLogger("penstock.broker").info("started", extra={"node": 1})
    logging.getLogger("penstock.broker").debug("detail")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["node"] == 1
