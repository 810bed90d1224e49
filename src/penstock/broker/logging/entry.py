"""One event as it is kept: a JSON object with time, level, node, component, event name and fields.

It is made where the event is logged, since fields may change afterwards; only the node's number is put in
later, because a broker that joins a cluster speaks before it has one. ``node`` is always the broker that
speaks: a field that names another broker must have another name.
"""

import json
import logging
from dataclasses import dataclass
from typing import Any

from penstock.broker.logging.feeding import is_feeding
from penstock.broker.logging.formatters import component_of, fields_of, instant_text

ENTRY_BYTES_MAX = 64 * 1024
"""Of one entry; a longer one loses its fields. Far above anything a broker has to say."""

EVENT_LENGTH_MAX = 1_000
RESERVED = frozenset({"time", "level", "component", "event", "exception"})

_EXCEPTIONS = logging.Formatter()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """An event on its way to a file or to the topic."""

    time_ms: int
    level: str
    level_number: int
    component: str
    event: str
    #: The JSON object, but for the node.
    body: bytes
    #: Whether writing of logs caused it.
    is_of_feed: bool = False

    def line(self, node_id: int | None) -> bytes:
        """The whole object, as the broker of that number says it."""
        node = b"null" if node_id is None else b"%d" % node_id
        return b'{"node": %s, %s' % (node, self.body[1:])


def make_entry(record: logging.LogRecord) -> LogEntry:
    """What is kept of a record that was just logged."""
    event = record.getMessage()[:EVENT_LENGTH_MAX]
    level = record.levelname.lower()
    component = component_of(record)
    own = {"time": instant_text(record), "level": level, "component": component, "event": event}
    return LogEntry(
        time_ms=int(record.created * 1000),
        level=level,
        level_number=record.levelno,
        component=component,
        event=event,
        body=_body(own, _kept_fields(record)),
        is_of_feed=is_feeding(),
    )


def _kept_fields(record: logging.LogRecord) -> dict[str, Any]:
    fields = {
        f"{name}_" if name in RESERVED else name: value
        for name, value in fields_of(record).items()
        if name != "node"
    }
    if record.exc_info:
        fields["exception"] = _EXCEPTIONS.formatException(record.exc_info)
    return fields


def _body(own: dict[str, str], fields: dict[str, Any]) -> bytes:
    body = json.dumps({**own, **fields}, default=str).encode()
    if len(body) > ENTRY_BYTES_MAX:
        body = json.dumps({**own, "left_out": f"fields of {len(body)} bytes"}).encode()
    return body
