"""AlterConfigs (key 33): replace all settings of topics and brokers. The old way, before KIP-339.

Versions 0 to 2.

Behaviour
    - A resource gets exactly the settings of the request; what is not named goes back to its default.
    - Resources are topics by name, brokers by their ids, all brokers by the empty name, and subscriptions of
      clients' metrics by name. Every resource of the request is in the answer, changed as a whole or not at
      all.
    - Refusals: UNKNOWN_TOPIC_OR_PARTITION; INVALID_CONFIG for a topic's unknown name or bad value;
      INVALID_REQUEST for a broker's, for one that cannot change while running, and for a resource, name or
      null value that makes no sense.

Version notes
    2 flexible.
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.config_changes import alter_configs
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: AlterConfigsRequest, header: RequestHeader
) -> AlterConfigsResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(alter_configs, request=request, config=broker.config)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return _failure(request, error)


def _failure(request: AlterConfigsRequest, error: ApiError) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=tuple(
            AlterConfigsResourceResponse(
                error_code=error.code,
                error_message=error.message,
                resource_type=each.resource_type,
                resource_name=each.resource_name,
            )
            for each in request.resources
        )
    )
