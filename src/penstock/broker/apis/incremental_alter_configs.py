"""IncrementalAlterConfigs (key 44): change some settings of topics and brokers (KIP-339).

Versions 0 to 1.

Behaviour
    - SET and DELETE work on any setting; APPEND and SUBTRACT on lists, starting from the value in force.
    - Resources are topics by name, brokers by their ids, all brokers by the empty name, and subscriptions of
      clients' metrics (KIP-714) by name, which are there while anything is set on them. Every resource of the
      request is in the answer (librdkafka insists), changed as a whole or not at all.
    - Refusals: as AlterConfigs; INVALID_CONFIG for APPEND or SUBTRACT on what is no list.

Version notes
    1 flexible.
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.metadata.config_changes import incremental_alter_configs
from penstock.model.errors import ApiError
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: IncrementalAlterConfigsRequest, header: RequestHeader
) -> IncrementalAlterConfigsResponse:
    """Have the controller decide, and answer when its decision is in force."""
    decide = partial(incremental_alter_configs, request=request, config=broker.config)
    try:
        return await broker.control.decide_or_forward(request, header, decide)
    except ApiError as error:
        return _failure(request, error)


def _failure(request: IncrementalAlterConfigsRequest, error: ApiError) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
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
