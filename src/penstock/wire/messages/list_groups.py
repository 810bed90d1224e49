"""ListGroups (key 16): the groups that this broker looks after, of every type.

Version notes: 1 throttling; 3 flexible; 4 states, shown and filtered by; 5 types, likewise.
"""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field


class ListGroupsRequest(Struct):
    """Which groups are there? An empty filter lets all through."""

    states_filter: tuple[str, ...] = array(STRING, "4+")
    types_filter: tuple[str, ...] = array(STRING, "5+")


class ListedGroup(Struct):
    """A group; one that only has offsets has an empty protocol type."""

    group_id: str = field(STRING)
    protocol_type: str = field(STRING)
    group_state: str = field(STRING, "4+")
    group_type: str = field(STRING, "5+")


class ListGroupsResponse(Struct):
    """The groups that pass both filters."""

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16)
    groups: tuple[ListedGroup, ...] = array(ListedGroup)
