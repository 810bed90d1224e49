"""DecommissionBroker (key 10101, Penstock's own): empty a broker, then forget it.

Versions 0 and 1.

Behaviour
    - The first request begins it, every further one tells how much is left. The controller moves the
      replicas away, takes the broker's vote if it has one, and forgets it when it is empty; its process then
      ends by itself. From then on the answer is BROKER_ID_NOT_REGISTERED.
    - ``is_cancelled`` stops it; what has moved stays where it is.
    - Refusals: BROKER_ID_NOT_REGISTERED; POLICY_VIOLATION (there is no other live broker);
      INVALID_REPLICATION_FACTOR (too few others for the replicas of some topic).

Version notes
    1 one can ask how far it is without beginning it, and is told whether it goes on.
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.decommission import decommission_broker
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.decommission_broker import (
    DecommissionBrokerRequest,
    DecommissionBrokerResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: DecommissionBrokerRequest, header: RequestHeader
) -> DecommissionBrokerResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(decommission_broker, request=request, voters=broker.controller.voters)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return DecommissionBrokerResponse(error_code=error.code, error_message=error.message)
