"""Heartbeat (key 12): a member of a classic group is still there, and learns whether to join again.

Version notes: 1 throttling; 3 static members; 4 flexible.
"""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, field, nullable


class HeartbeatRequest(Struct):
    """I am still here."""

    group_id: str = field(STRING)
    generation_id: int = field(INT32)
    member_id: str = field(STRING)
    group_instance_id: str | None = nullable(STRING, "3+")


class HeartbeatResponse(Struct):
    """All is well, or what is not."""

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16)
