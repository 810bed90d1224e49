"""ApiVersions (key 18): what each side speaks; the first thing a client asks.

Version notes: 1 throttle time; 3 flexible, the client names its software, the broker its features; 4 may list
supported features whose lowest level is 0. The response's header is never flexible.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field


class ApiVersionsRequest(Struct):
    """Which APIs do you serve?"""

    client_software_name: str = field(STRING, "3+")
    client_software_version: str = field(STRING, "3+")


class ApiVersion(Struct):
    """The versions of one API that the broker serves."""

    api_key: int = field(INT16)
    min_version: int = field(INT16)
    max_version: int = field(INT16)


class SupportedFeatureKey(Struct):
    """The levels of a feature that this broker could run at."""

    name: str = field(STRING)
    min_version: int = field(INT16)
    max_version: int = field(INT16)


class FinalizedFeatureKey(Struct):
    """The level of a feature that the cluster runs at."""

    name: str = field(STRING)
    max_version_level: int = field(INT16)
    min_version_level: int = field(INT16)


class ApiVersionsResponse(Struct):
    """Everything served, and the cluster's features."""

    error_code: int = field(INT16)
    api_keys: tuple[ApiVersion, ...] = array(ApiVersion)
    throttle_time_ms: int = field(INT32, "1+")
    supported_features: tuple[SupportedFeatureKey, ...] = array(SupportedFeatureKey, "3+", tag=0)
    finalized_features_epoch: int = field(INT64, "3+", default=-1, tag=1)
    finalized_features: tuple[FinalizedFeatureKey, ...] = array(FinalizedFeatureKey, "3+", tag=2)
    zk_migration_ready: bool = field(BOOLEAN, "3+", tag=3)
