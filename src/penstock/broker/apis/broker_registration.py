"""BrokerRegistration (key 62, between brokers): a started broker makes itself known to the controller.

Versions 0 to 4.

Behaviour
    - The answer has the epoch of this process, larger than any before, once it is in the metadata log. The
      same process asking again gets the same epoch.
    - What the last process was in sync with, the new one is not; what it lost, it is not eligible for.
    - Refusals: NOT_CONTROLLER; INCONSISTENT_CLUSTER_ID; INVALID_REGISTRATION; UNSUPPORTED_VERSION (it cannot
      live with a feature's level); DUPLICATE_BROKER_REGISTRATION (another directory's process of this id
      lives); BROKER_ID_NOT_REGISTERED (it names a registration that was forgotten).

Version notes
    2 log directories (KIP-858); 3 the epoch before (KIP-966); 4 features whose lowest level is 0.
"""

from typing import TYPE_CHECKING

from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: BrokerRegistrationRequest, header: RequestHeader
) -> BrokerRegistrationResponse:
    """Register a broker, if this is the controller."""
    try:
        return await broker.controller.register(request)
    except ApiError as error:
        return BrokerRegistrationResponse(error_code=error.code)
