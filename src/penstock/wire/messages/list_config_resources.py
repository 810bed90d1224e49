"""ListConfigResources (key 74): what has settings (KIP-1142; in version 0 subscriptions of metrics, KIP-714).

Flexible from the start. Version notes: 1 other kinds than subscriptions.
"""

from penstock.wire.primitives import INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field

CLIENT_METRICS = 16


class ListConfigResourcesRequest(Struct):
    """Which resources are there? No kinds means all of them."""

    resource_types: tuple[int, ...] = array(INT8, "1+")


class ListedConfigResource(Struct):
    """One of them."""

    resource_name: str = field(STRING)
    resource_type: int = field(INT8, "1+", default=CLIENT_METRICS)


class ListConfigResourcesResponse(Struct):
    """These."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    config_resources: tuple[ListedConfigResource, ...] = array(ListedConfigResource)
