"""What a flow of a pipeline last said of itself, as a record's value: JSON, at most once a second.

Anybody may write to the topic; whoever reads it passes over what no flow says.
"""

import json
from collections.abc import Mapping
from typing import Any

SILENT_MS = 60_000
"""A flow that runs is heard of every ten seconds; one that was not for so long may be gone."""


def flow_state(value: bytes) -> dict[str, Any] | None:
    """What a flow said; None for something that no flow says."""
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    is_one = isinstance(found, dict) and all(
        isinstance(found.get(name), str) for name in ("pipeline", "flow")
    )
    return found if is_one and isinstance(found.get("at_ms"), int) else None


def heard_state(state: Mapping[str, Any], *, now_ms: int) -> str:
    """What a flow said last; *silent* if it should have said more since."""
    said = str(state.get("state", "running"))
    return "silent" if said == "running" and now_ms - state["at_ms"] > SILENT_MS else said
