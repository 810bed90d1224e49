"""UpdateFeatures (key 57): the cluster agrees on levels of features.

Flexible from the start. Version notes: 1 kinds of change, dry runs; 2 one outcome for all.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

UPGRADE = 1
SAFE_DOWNGRADE = 2
UNSAFE_DOWNGRADE = 3


class FeatureUpdateKey(Struct):
    """The level wanted for one feature; below 1 it is to be forgotten."""

    feature: str = field(STRING)
    max_version_level: int = field(INT16)
    allow_downgrade: bool = field(BOOLEAN, "0")
    upgrade_type: int = field(INT8, "1+", default=UPGRADE)


class UpdateFeaturesRequest(Struct):
    """Change these levels."""

    timeout_ms: int = field(INT32, default=60_000)
    feature_updates: tuple[FeatureUpdateKey, ...] = array(FeatureUpdateKey)
    validate_only: bool = field(BOOLEAN, "1+")


class UpdatableFeatureResult(Struct):
    """The outcome for one feature."""

    feature: str = field(STRING)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)


class UpdateFeaturesResponse(Struct):
    """Whether the levels have changed."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    results: tuple[UpdatableFeatureResult, ...] = array(UpdatableFeatureResult, "0-1")
