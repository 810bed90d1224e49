"""DescribeConfigs (key 32): the settings of topics and brokers, and where each value comes from.

Version notes: 1 synonyms and sources; 3 types and documentation; 4 flexible.
"""

from penstock.wire.primitives import BOOLEAN, INT8, INT16, INT32, STRING
from penstock.wire.schema import Struct, array, field, nullable, nullable_array


class DescribeConfigsResource(Struct):
    """A topic or broker, and which of its settings; null keys mean all."""

    resource_type: int = field(INT8)
    resource_name: str = field(STRING)
    configuration_keys: tuple[str, ...] | None = nullable_array(STRING)


class DescribeConfigsRequest(Struct):
    """Describe the settings of these."""

    resources: tuple[DescribeConfigsResource, ...] = array(DescribeConfigsResource)
    include_synonyms: bool = field(BOOLEAN, "1+")
    include_documentation: bool = field(BOOLEAN, "3+")


class DescribeConfigsSynonym(Struct):
    """Another place that gives this setting a value, most specific first."""

    name: str = field(STRING)
    value: str | None = nullable(STRING)
    source: int = field(INT8)


class DescribeConfigsResourceResult(Struct):
    """One setting; a sensitive one has no value here."""

    name: str = field(STRING)
    value: str | None = nullable(STRING)
    read_only: bool = field(BOOLEAN)
    config_source: int = field(INT8, "1+", default=-1)
    is_sensitive: bool = field(BOOLEAN)
    synonyms: tuple[DescribeConfigsSynonym, ...] = array(DescribeConfigsSynonym, "1+")
    config_type: int = field(INT8, "3+")
    documentation: str | None = nullable(STRING, "3+")


class DescribeConfigsResult(Struct):
    """The settings of one topic or broker, or why they cannot be told."""

    error_code: int = field(INT16)
    error_message: str | None = nullable(STRING)
    resource_type: int = field(INT8)
    resource_name: str = field(STRING)
    configs: tuple[DescribeConfigsResourceResult, ...] = array(DescribeConfigsResourceResult)


class DescribeConfigsResponse(Struct):
    """The settings of everything asked for."""

    throttle_time_ms: int = field(INT32)
    results: tuple[DescribeConfigsResult, ...] = array(DescribeConfigsResult)
