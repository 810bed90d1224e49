"""How the broker logs: sentences for people on a terminal, one JSON object a line otherwise.

Events carry their facts as fields (``extra={...}``), never interpolated into the message, so that logs can
be searched. Control characters of clients cannot break a line: both forms escape them.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

_STANDARD_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def configure_logging(*, is_verbose: bool, stream: TextIO = sys.stderr) -> None:
    """Send the broker's log to ``stream``."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(HumanFormatter() if stream.isatty() else JsonFormatter())
    root = logging.getLogger("penstock")
    root.handlers = [handler]
    root.setLevel(logging.DEBUG if is_verbose else logging.INFO)
    root.propagate = False


class JsonFormatter(logging.Formatter):
    """One object a line: time, level, component, event, and the event's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        entry: dict[str, Any] = {
            "time": _instant(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "component": record.name.removeprefix("penstock."),
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class HumanFormatter(logging.Formatter):
    """A short line: time, level when it matters, event, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line of text."""
        fields = " ".join(f"{name}={_plain(value)}" for name, value in _fields(record).items())
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        line = f"{_instant(record):%H:%M:%S} {level}{_plain(record.getMessage())} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _instant(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, tz=UTC)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD_ATTRIBUTES}


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isprintable() else repr(text)
