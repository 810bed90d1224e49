"""JoinGroup (key 11): a consumer asks to be a member of a group's next generation.

Version notes: 1 a timeout for rebalances of its own; 2 throttling; 4 a member without an id is sent back
with one; 5 static members; 6 flexible; 7 the protocol in the answer, null when there is none; 8 a reason;
9 a leader may be told to leave the assignment as it is.
"""

from penstock.wire.primitives import BOOLEAN, BYTES, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

NO_GENERATION = -1


class JoinGroupRequestProtocol(Struct):
    """A way to assign that the member knows, with what it has to say about itself in it."""

    name: str = field(STRING)
    metadata: bytes = field(BYTES)


class JoinGroupRequest(Struct):
    """Let me in. The protocols come in the order of the member's liking."""

    group_id: str = field(STRING)
    session_timeout_ms: int = field(INT32)
    rebalance_timeout_ms: int = field(INT32, "1+", default=-1)
    member_id: str = field(STRING)
    group_instance_id: str | None = nullable(STRING, "5+")
    protocol_type: str = field(STRING)
    protocols: tuple[JoinGroupRequestProtocol, ...] = array(JoinGroupRequestProtocol)
    reason: str | None = nullable(STRING, "8+")


class JoinGroupResponseMember(Struct):
    """A member, as the leader needs to know it to assign."""

    member_id: str = field(STRING)
    group_instance_id: str | None = nullable(STRING, "5+")
    metadata: bytes = field(BYTES)


class JoinGroupResponse(Struct):
    """The generation the member is in; only its leader learns who else is."""

    throttle_time_ms: int = field(INT32, "2+")
    error_code: int = field(INT16)
    generation_id: int = field(INT32, default=NO_GENERATION)
    protocol_type: str | None = nullable(STRING, "7+")
    protocol_name: str | None = nullable(STRING, nulls="7+", default="")
    leader: str = field(STRING)
    skip_assignment: bool = field(BOOLEAN, "9+")
    member_id: str = field(STRING)
    members: tuple[JoinGroupResponseMember, ...] = array(JoinGroupResponseMember)
