"""IncrementalAlterConfigs (key 44): change some settings of a topic or broker and leave the others alone.

Version notes: 1 flexible.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable

SET = 0
DELETE = 1
APPEND = 2
SUBTRACT = 3


class AlterableConfig(Struct):
    """A setting and what to do with it: set, delete, append to or subtract from a list."""

    name: str = field(STRING)
    config_operation: int = field(INT8)
    value: str | None = nullable(STRING)


class AlterConfigsResource(Struct):
    """The changes for one topic or broker."""

    resource_type: int = field(INT8)
    resource_name: str = field(STRING)
    configs: tuple[AlterableConfig, ...] = array(AlterableConfig)


class IncrementalAlterConfigsRequest(Struct):
    """Make these changes, or only say whether they could be made."""

    resources: tuple[AlterConfigsResource, ...] = array(AlterConfigsResource)
    validate_only: bool = field(BOOLEAN)


class AlterConfigsResourceResponse(Struct):
    """The outcome for one topic or broker."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    resource_type: int = field(INT8)
    resource_name: str = field(STRING)


class IncrementalAlterConfigsResponse(Struct):
    """The outcome for all of them."""

    throttle_time_ms: int = field(INT32)
    responses: tuple[AlterConfigsResourceResponse, ...] = array(AlterConfigsResourceResponse)
