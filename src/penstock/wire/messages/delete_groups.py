"""DeleteGroups (key 42): empty groups go, with their offsets.

Version notes: 1 as 0, but a throttled client is expected to wait by itself; 2 flexible.
"""

from penstock.wire.primitives import INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field


class DeleteGroupsRequest(Struct):
    """Delete these groups."""

    groups_names: tuple[str, ...] = array(STRING)


class DeletableGroupResult(Struct):
    """Whether one group is gone."""

    group_id: str = field(STRING)
    error_code: int = field(INT16)


class DeleteGroupsResponse(Struct):
    """The outcome for every group."""

    throttle_time_ms: int = field(INT32)
    results: tuple[DeletableGroupResult, ...] = array(DeletableGroupResult)
