"""AlterConfigs (key 33): replace all settings of a topic or broker; what is not named is reset.

Version notes: 2 flexible. New clients use IncrementalAlterConfigs.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable


class AlterableConfig(Struct):
    """A setting and its new value."""

    name: str = field(STRING)
    value: str | None = nullable(STRING)


class AlterConfigsResource(Struct):
    """All settings that one topic or broker shall have."""

    resource_type: int = field(INT8)
    resource_name: str = field(STRING)
    configs: tuple[AlterableConfig, ...] = array(AlterableConfig)


class AlterConfigsRequest(Struct):
    """Replace the settings of these, or only say whether it could be done."""

    resources: tuple[AlterConfigsResource, ...] = array(AlterConfigsResource)
    validate_only: bool = field(BOOLEAN)


class AlterConfigsResourceResponse(Struct):
    """The outcome for one topic or broker."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    resource_type: int = field(INT8)
    resource_name: str = field(STRING)


class AlterConfigsResponse(Struct):
    """The outcome for all of them."""

    throttle_time_ms: int = field(INT32)
    responses: tuple[AlterConfigsResourceResponse, ...] = array(AlterConfigsResourceResponse)
