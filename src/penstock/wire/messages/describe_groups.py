"""DescribeGroups (key 15): the state and members of classic groups.

Version notes: 1 throttling; 3 authorized operations; 4 static members; 5 flexible; 6 an unknown group is an
error, with a message.
"""

from penstock.wire.primitives import BOOLEAN, BYTES, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

OPERATIONS_NOT_ASKED = -2147483648
"""The bit field of authorized operations when the client did not ask for it."""


class DescribeGroupsRequest(Struct):
    """How are these groups?"""

    groups: tuple[str, ...] = array(STRING)
    include_authorized_operations: bool = field(BOOLEAN, "3+")


class DescribedGroupMember(Struct):
    """A member, what it said when it joined and what it got."""

    member_id: str = field(STRING)
    group_instance_id: str | None = nullable(STRING, "4+")
    client_id: str = field(STRING)
    client_host: str = field(STRING)
    member_metadata: bytes = field(BYTES)
    member_assignment: bytes = field(BYTES)


class DescribedGroup(Struct):
    """A group, or why it cannot be described; ``protocol_data`` is the name of its protocol."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING, "6+")
    group_id: str = field(STRING)
    group_state: str = field(STRING)
    protocol_type: str = field(STRING)
    protocol_data: str = field(STRING)
    members: tuple[DescribedGroupMember, ...] = array(DescribedGroupMember)
    authorized_operations: int = field(INT32, "3+", default=OPERATIONS_NOT_ASKED)


class DescribeGroupsResponse(Struct):
    """The groups asked about."""

    throttle_time_ms: int = field(INT32, "1+")
    groups: tuple[DescribedGroup, ...] = array(DescribedGroup)
