"""GetTelemetrySubscriptions (key 71): a client asks which of its metrics are wanted (KIP-714).

Flexible from the start.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING, UUID
from penstock.wire.schema import Struct, array, field


class GetTelemetrySubscriptionsRequest(Struct):
    """What shall I tell of myself? An id of zeros asks for one."""

    client_instance_id: bytes = field(UUID)


class GetTelemetrySubscriptionsResponse(Struct):
    """What to push, how often and how; no metrics at all means that nothing is wanted."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    client_instance_id: bytes = field(UUID)
    #: Comes back with every push, so that a change of mind is noticed.
    subscription_id: int = field(INT32)
    accepted_compression_types: tuple[int, ...] = array(INT8)
    push_interval_ms: int = field(INT32)
    telemetry_max_bytes: int = field(INT32)
    #: Whether sums shall be those since the last push.
    delta_temporality: bool = field(BOOLEAN)
    #: Beginnings of names; ``*`` alone means all.
    requested_metrics: tuple[str, ...] = array(STRING)
