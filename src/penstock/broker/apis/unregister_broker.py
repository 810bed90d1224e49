"""UnregisterBroker (key 64): forget a broker that will not come back.

Version 0.

Behaviour
    - Its replicas stay named where they are; the controller moves them to others by and by.
    - A process that is forgotten while nobody hears it registers again when it is heard, and a new one can
      only come with an empty directory. What the broker had counts as lost in both cases.
    - INVALID_REQUEST for a broker that lives, which Kafka would forget; to empty one there is
      DecommissionBroker.
    - BROKER_ID_NOT_REGISTERED when there is no such broker.
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.fencing import unregister_broker
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: UnregisterBrokerRequest, header: RequestHeader
) -> UnregisterBrokerResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(unregister_broker, request=request)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return UnregisterBrokerResponse(error_code=error.code, error_message=error.message)
