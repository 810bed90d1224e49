"""One entry of a broker's log, as it was written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

LEVELS = ("debug", "info", "warning", "error", "critical")
"""From the least to the most alarming."""

OWN_NAMES = ("time", "level", "node", "component", "event")
"""What every entry has; everything else is a field of its event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntry:
    """What a broker said, when, and how."""

    time_ms: int
    level: str
    #: The broker that speaks; None if it had no number yet.
    node: int | None
    component: str
    event: str
    fields: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The entry as one JSON object, in the order in which people look at it."""
        time = datetime.fromtimestamp(self.time_ms / 1000, UTC)
        return {
            "time": time.isoformat(timespec="milliseconds"),
            "level": self.level,
            "node": self.node,
            "component": self.component,
            "event": self.event,
            **self.fields,
        }


def parse_entry(line: bytes | str) -> FoundEntry | None:
    """The entry that a line holds; None if it is none, since a process may have died while writing it."""
    try:
        document = json.loads(line)
        time = datetime.fromisoformat(document["time"])
        node = document["node"]
        return FoundEntry(
            time_ms=round(time.timestamp() * 1000),
            level=str(document["level"]),
            node=None if node is None else int(node),
            component=str(document["component"]),
            event=str(document["event"]),
            fields={name: value for name, value in document.items() if name not in OWN_NAMES},
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, AttributeError):
        return None
