"""How an event looks on standard error: words for people on a terminal, one JSON object a line otherwise.

Events carry their facts as fields (``extra={...}``), never interpolated into the message, so that logs can
be searched. Control characters of clients cannot break a line: both forms escape them.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any

_STANDARD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PACKAGE = "penstock."


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, component, event, and the event's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        entry: dict[str, Any] = {
            "time": instant_text(record),
            "level": record.levelname.lower(),
            "component": component_of(record),
            "event": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class HumanFormatter(logging.Formatter):
    """A short line: time, level when it matters, event, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of text."""
        fields = " ".join(f"{name}={_plain(value)}" for name, value in fields_of(record).items())
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        line = f"{_instant(record):%H:%M:%S} {level}{_plain(record.getMessage())} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def component_of(record: logging.LogRecord) -> str:
    """The part of the program that speaks, as a dotted name."""
    return record.name.removeprefix(_PACKAGE)


def instant_text(record: logging.LogRecord) -> str:
    """When it spoke: ISO 8601 in UTC, to the millisecond."""
    return _instant(record).isoformat(timespec="milliseconds")


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The facts that were logged with an event."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_ATTRIBUTES}


def _instant(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, tz=UTC)


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isprintable() else repr(text)
