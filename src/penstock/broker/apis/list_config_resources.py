"""ListConfigResources (key 74): what has settings of its own (KIP-1142).

Versions 0 to 1.

Behaviour
    - Version 0 lists subscriptions of clients' metrics (KIP-714). From version 1 on topics and brokers too,
      whether anything was set on them or not; no kinds means all kinds.
    - UNSUPPORTED_VERSION for a kind that is not one of these.

Version notes
    1 other kinds than subscriptions.
"""

from typing import TYPE_CHECKING

from penstock.metadata.list_config_resources import list_config_resources
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


async def handle(
    broker: "Broker", request: ListConfigResourcesRequest, header: RequestHeader
) -> ListConfigResourcesResponse:
    """List them."""
    return list_config_resources(broker.image, request, version=header.api_version)
