"""ListConfigResources: the names of what has settings."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from penstock.metadata.config_rules import subscription_names
from penstock.metadata.image import ClusterImage
from penstock.metadata.resources import ResourceType
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    ListedConfigResource,
)

KINDS_SINCE_VERSION = 1

_NAMES: Mapping[ResourceType, Callable[[ClusterImage], Iterable[str]]] = MappingProxyType(
    {
        ResourceType.TOPIC: lambda image: sorted(image.topics),
        ResourceType.BROKER: lambda image: map(str, sorted(image.brokers)),
        ResourceType.CLIENT_METRICS: subscription_names,
    }
)


def list_config_resources(
    image: ClusterImage, request: ListConfigResourcesRequest, *, version: int
) -> ListConfigResourcesResponse:
    """The resources of the kinds asked for, in the order of kinds and names."""
    asked: set[int] = {ResourceType.CLIENT_METRICS}
    if version >= KINDS_SINCE_VERSION:
        asked = set(request.resource_types) or set(_NAMES)
    if not asked <= set(_NAMES):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=tuple(
            ListedConfigResource(resource_name=name, resource_type=kind)
            for kind in _NAMES
            if kind in asked
            for name in _NAMES[kind](image)
        )
    )
