"""BrokerHeartbeat (key 63): a broker says it lives, and asks to be let in or to be let go.

Flexible from the start. Version notes: 1 directories that failed; 2 directories that take nothing new.
"""

from typing import cast

from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, UUID
from penstock.wire.schema import Field, Struct, array, field, parse_versions


def _nullable_uuids(versions: str, tag: int) -> tuple[bytes, ...] | None:
    """A tagged list of ids that is null unless it is known."""
    since = parse_versions(versions)
    declared = Field(kind=UUID, versions=since, nulls=since, default=None, tag=tag, is_array=True)
    return cast("tuple[bytes, ...] | None", declared)


class BrokerHeartbeatRequest(Struct):
    """I am alive, and this far in the metadata log."""

    broker_id: int = field(INT32)
    broker_epoch: int = field(INT64, default=-1)
    current_metadata_offset: int = field(INT64)
    want_fence: bool = field(BOOLEAN)
    want_shut_down: bool = field(BOOLEAN)
    offline_log_dirs: tuple[bytes, ...] = array(UUID, "1+", tag=0)
    cordoned_log_dirs: tuple[bytes, ...] | None = _nullable_uuids("2+", 1)


class BrokerHeartbeatResponse(Struct):
    """What the controller thinks of the broker now."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    is_caught_up: bool = field(BOOLEAN)
    is_fenced: bool = field(BOOLEAN, default=True)
    should_shut_down: bool = field(BOOLEAN)
