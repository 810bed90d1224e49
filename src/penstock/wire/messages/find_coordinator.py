"""FindCoordinator (key 10): which broker looks after a group or a transactional id.

Version notes: 1 key types; 3 flexible; 4 many keys at once, so the single-key fields vanish; 5 a new error;
6 share groups.
"""

from penstock.wire.primitives import INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

GROUP = 0
TRANSACTION = 1
SHARE = 2


class FindCoordinatorRequest(Struct):
    """Who looks after ``key`` (until version 3), or after each of ``coordinator_keys``?"""

    key: str = field(STRING, "0-3")
    key_type: int = field(INT8, "1+")
    coordinator_keys: tuple[str, ...] = array(STRING, "4+")


class Coordinator(Struct):
    """The broker for one key."""

    key: str = field(STRING)
    node_id: int = field(INT32)
    host: str = field(STRING)
    port: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)


class FindCoordinatorResponse(Struct):
    """The broker asked for, in the fields above ``coordinators`` until version 3."""

    throttle_time_ms: int = field(INT32, "1+")
    error_code: int = field(INT16, "0-3")
    error_message: str | None = nullable(STRING, "1-3")
    node_id: int = field(INT32, "0-3")
    host: str = field(STRING, "0-3")
    port: int = field(INT32, "0-3")
    coordinators: tuple[Coordinator, ...] = array(Coordinator, "4+")
