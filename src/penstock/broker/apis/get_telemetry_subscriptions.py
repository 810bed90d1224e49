"""GetTelemetrySubscriptions (key 71): a client asks which of its metrics are wanted (KIP-714).

Version 0.

Behaviour
    - An id of zeros is answered with a new one, which the client keeps, whichever broker it pushes to.
    - All subscriptions that match the client are one: their metrics together, the shortest of intervals,
      ``*`` alone when one of them has it. Nothing wanted is an empty list, and the client asks again later.
    - Once in an interval, or THROTTLING_QUOTA_EXCEEDED; at once after a push that was refused because of its
      subscription or compression, and when subscriptions have changed.
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: GetTelemetrySubscriptionsRequest, header: RequestHeader
) -> GetTelemetrySubscriptionsResponse:
    """Say what is wanted."""
    try:
        return broker.telemetry.subscribe(request.client_instance_id, header)
    except ApiError as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.code)
