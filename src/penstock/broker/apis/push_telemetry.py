"""PushTelemetry (key 72): a client tells its metrics, as OpenTelemetry's protobuf (KIP-714).

Version 0.

Behaviour
    - What is told is shown on the page of metrics of the broker that was told, until the client falls silent.
    - Refusals, the first that applies: INVALID_REQUEST for an id that is none, and after the client's last
      push; THROTTLING_QUOTA_EXCEEDED before its interval is over, unless it is its last push or it has just
      asked what is wanted; UNKNOWN_SUBSCRIPTION_ID when something else is wanted by now;
      UNSUPPORTED_COMPRESSION_TYPE; TELEMETRY_TOO_LARGE beyond telemetry.max.bytes; INVALID_RECORD for what
      cannot be read.
    - Numbers beyond the bounds (series of a client, of all clients, their length) are left out and counted.
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: PushTelemetryRequest, header: RequestHeader
) -> PushTelemetryResponse:
    """Take it in."""
    try:
        await broker.telemetry.push(request, header)
    except ApiError as error:
        return PushTelemetryResponse(error_code=error.code)
    return PushTelemetryResponse()
