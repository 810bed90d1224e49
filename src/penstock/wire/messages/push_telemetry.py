"""PushTelemetry (key 72): a client tells its metrics (KIP-714).

Flexible from the start.
"""

from penstock.wire.primitives import BOOLEAN, BYTES, INT8, INT16, INT32, UUID
from penstock.wire.schema import Struct, field


class PushTelemetryRequest(Struct):
    """Metrics as OpenTelemetry's protobuf has them, compressed or not."""

    client_instance_id: bytes = field(UUID)
    subscription_id: int = field(INT32)
    #: The client is about to close; nothing follows.
    terminating: bool = field(BOOLEAN)
    compression_type: int = field(INT8)
    metrics: bytes = field(BYTES)


class PushTelemetryResponse(Struct):
    """Taken, or not."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
