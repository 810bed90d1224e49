"""ApiVersions (key 18): what this broker speaks. The first thing most clients ask.

Versions 0 to 4.

Behaviour
    - A version we do not know is answered in version 0 with UNSUPPORTED_VERSION and our range for this one
      key (KIP-511), so that the client can ask again; ``dispatch`` does that, the body being unreadable.
    - The two APIs of clients' metrics (KIP-714) are listed while some subscription wants any, as Kafka lists
      them if it has a receiver: every client that sees them asks, and those built on librdkafka log a line.
    - From version 3 the client names itself; a malformed name is INVALID_REQUEST.

Version notes
    3 flexible, client software, features; 4 features whose minimum is 0. The response header never is.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey, advertised_versions
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

CLIENT_NAME_SINCE_VERSION = 3
LEVEL_ZERO_SINCE_VERSION = 4
"""Java clients that ask for less cannot read features whose lowest level is 0 (KAFKA-17492)."""

TELEMETRY = (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY)

_LOWEST_LEVELS = {"transaction.version": 0, "group.version": 0}
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


async def handle(broker: "Broker", request: ApiVersionsRequest, header: RequestHeader) -> ApiVersionsResponse:
    """List the served APIs."""
    if header.api_version >= CLIENT_NAME_SINCE_VERSION and not _is_well_named(request):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    _note_software(request, header)
    features = broker.image.features
    return ApiVersionsResponse(
        api_keys=tuple(_told(broker)),
        supported_features=tuple(
            SupportedFeatureKey(name=name, min_version=_LOWEST_LEVELS.get(name, 1), max_version=level)
            for name, level in features.items()
            if name not in _LOWEST_LEVELS or header.api_version >= LEVEL_ZERO_SINCE_VERSION
        ),
        # Clients believe only what is newer, whichever broker says it.
        finalized_features_epoch=broker.quorum.applied_offset,
        finalized_features=tuple(
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in features.items()
        ),
    )


def _told(broker: "Broker") -> Iterator[ApiVersion]:
    is_wanted = broker.telemetry.is_wanted
    return (each for each in advertised_versions() if is_wanted or each.api_key not in TELEMETRY)


def _note_software(request: ApiVersionsRequest, header: RequestHeader) -> None:
    """Subscriptions of metrics may choose clients by what they run."""
    if header.client is not None and request.client_software_name:
        header.client.software_name = request.client_software_name
        header.client.software_version = request.client_software_version


def _is_well_named(request: ApiVersionsRequest) -> bool:
    names = (request.client_software_name, request.client_software_version)
    return all(_SOFTWARE.fullmatch(name) for name in names)
