"""LeaveGroup (key 13): members go, by themselves or because an administrator says so.

Version notes: 1 throttling; 3 many members at once, so the single-member field vanishes; 4 flexible;
5 reasons.
"""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable


class MemberIdentity(Struct):
    """A member to go; a static one may be named by its instance id alone."""

    member_id: str = field(STRING, "3+")
    group_instance_id: str | None = nullable(STRING, "3+")
    reason: str | None = nullable(STRING, "5+")


class LeaveGroupRequest(Struct):
    """Take this member (until version 2), or these, out of the group."""

    group_id: str = field(STRING)
    member_id: str = field(STRING, "0-2")
    members: tuple[MemberIdentity, ...] = array(MemberIdentity, "3+")


class MemberResponse(Struct):
    """Whether one member is gone."""

    member_id: str = field(STRING, "3+")
    group_instance_id: str | None = nullable(STRING, "3+")
    error_code: int = field(INT16, "3+")


class LeaveGroupResponse(Struct):
    """The outcome, since version 3 for each member."""

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16)
    members: tuple[MemberResponse, ...] = array(MemberResponse, "3+")
