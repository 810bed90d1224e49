"""SyncGroup (key 14): the leader says who gets what, and every member learns its part.

Version notes: 1 throttling; 3 static members; 4 flexible; 5 the protocol, so that it can be checked.
"""

from penstock.wire.primitives import BYTES, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable


class SyncGroupRequestAssignment(Struct):
    """What one member gets, in the group's own encoding."""

    member_id: str = field(STRING)
    assignment: bytes = field(BYTES)


class SyncGroupRequest(Struct):
    """What do I get? Only the leader sends assignments."""

    group_id: str = field(STRING)
    generation_id: int = field(INT32)
    member_id: str = field(STRING)
    group_instance_id: str | None = nullable(STRING, "3+")
    protocol_type: str | None = nullable(STRING, "5+")
    protocol_name: str | None = nullable(STRING, "5+")
    assignments: tuple[SyncGroupRequestAssignment, ...] = array(SyncGroupRequestAssignment)


class SyncGroupResponse(Struct):
    """The member's part."""

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16)
    protocol_type: str | None = nullable(STRING, "5+")
    protocol_name: str | None = nullable(STRING, "5+")
    assignment: bytes = field(BYTES)
