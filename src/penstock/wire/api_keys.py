"""The one table of the protocol: every API's key, name, versions and messages.

ApiVersions, the dispatch of requests and the documentation all come from here. An API whose messages exist
but which the broker cannot answer yet is ``is_served=False``: it can be read and written, but is neither
advertised nor dispatched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

from penstock.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from penstock.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from penstock.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from penstock.wire.messages.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from penstock.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from penstock.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from penstock.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from penstock.wire.messages.fetch import FetchRequest, FetchResponse
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from penstock.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse
from penstock.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from penstock.wire.messages.produce import ProduceRequest, ProduceResponse
from penstock.wire.schema import Struct


class ApiKey(IntEnum):
    """The APIs whose messages we know."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    FIND_COORDINATOR = 10
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    DESCRIBE_LOG_DIRS = 35
    CREATE_PARTITIONS = 37
    INCREMENTAL_ALTER_CONFIGS = 44
    DESCRIBE_CLUSTER = 60
    DESCRIBE_TOPIC_PARTITIONS = 75


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSpec:
    """One API: its versions (both ends included), the first flexible one, and its two messages."""

    key: ApiKey
    name: str
    min_version: int
    max_version: int
    first_flexible: int
    request: type[Struct]
    response: type[Struct]
    advertised_min: int
    is_served: bool

    def speaks(self, version: int) -> bool:
        """Whether requests of this version can be read."""
        return self.min_version <= version <= self.max_version

    def is_flexible(self, version: int) -> bool:
        """Whether this version has compact types and tagged fields, and so the flexible request header."""
        return version >= self.first_flexible

    def has_flexible_response_header(self, version: int) -> bool:
        """As ``is_flexible``, but never for ApiVersions: its answer must be readable before all is agreed."""
        return self.is_flexible(version) and self.key is not ApiKey.API_VERSIONS


def _api(
    key: ApiKey,
    versions: tuple[int, int],
    flexible: int,
    messages: tuple[type[Struct], type[Struct]],
    *,
    advertised_min: int | None = None,
    is_served: bool = True,
) -> ApiSpec:
    lowest, highest = versions
    request, response = messages
    return ApiSpec(
        key=key,
        name=request.__name__.removesuffix("Request"),
        min_version=lowest,
        max_version=highest,
        first_flexible=flexible,
        request=request,
        response=response,
        advertised_min=lowest if advertised_min is None else advertised_min,
        is_served=is_served,
    )


_TABLE = (
    # Clients built on librdkafka want to see Produce 0, though none of them sends it to us.
    _api(ApiKey.PRODUCE, (3, 13), 9, (ProduceRequest, ProduceResponse), advertised_min=0),
    _api(ApiKey.FETCH, (4, 18), 12, (FetchRequest, FetchResponse)),
    _api(ApiKey.LIST_OFFSETS, (1, 11), 6, (ListOffsetsRequest, ListOffsetsResponse)),
    _api(ApiKey.METADATA, (0, 13), 9, (MetadataRequest, MetadataResponse)),
    _api(ApiKey.FIND_COORDINATOR, (0, 6), 3, (FindCoordinatorRequest, FindCoordinatorResponse)),
    _api(ApiKey.API_VERSIONS, (0, 4), 3, (ApiVersionsRequest, ApiVersionsResponse)),
    _api(ApiKey.CREATE_TOPICS, (2, 7), 5, (CreateTopicsRequest, CreateTopicsResponse)),
    _api(ApiKey.DELETE_TOPICS, (1, 6), 4, (DeleteTopicsRequest, DeleteTopicsResponse)),
    _api(ApiKey.DELETE_RECORDS, (0, 2), 2, (DeleteRecordsRequest, DeleteRecordsResponse)),
    _api(ApiKey.INIT_PRODUCER_ID, (0, 5), 2, (InitProducerIdRequest, InitProducerIdResponse)),
    _api(
        ApiKey.OFFSET_FOR_LEADER_EPOCH, (2, 4), 4, (OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse)
    ),
    _api(ApiKey.DESCRIBE_CONFIGS, (1, 4), 4, (DescribeConfigsRequest, DescribeConfigsResponse)),
    _api(ApiKey.ALTER_CONFIGS, (0, 2), 2, (AlterConfigsRequest, AlterConfigsResponse)),
    _api(ApiKey.DESCRIBE_LOG_DIRS, (1, 5), 2, (DescribeLogDirsRequest, DescribeLogDirsResponse)),
    _api(ApiKey.CREATE_PARTITIONS, (0, 3), 2, (CreatePartitionsRequest, CreatePartitionsResponse)),
    _api(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        (0, 1),
        1,
        (IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
    ),
    _api(ApiKey.DESCRIBE_CLUSTER, (0, 2), 0, (DescribeClusterRequest, DescribeClusterResponse)),
    _api(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        (0, 0),
        0,
        (DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse),
    ),
)

APIS: Mapping[ApiKey, ApiSpec] = MappingProxyType({spec.key: spec for spec in _TABLE})
"""Every API, by key."""

_SPECS: dict[int, ApiSpec] = {spec.key: spec for spec in _TABLE}


def known_api(api_key: int) -> ApiSpec | None:
    """The API of that key, served or not."""
    return _SPECS.get(api_key)


def is_served(api_key: int, version: int) -> bool:
    """Whether a request of this key and version is to be dispatched."""
    spec = _SPECS.get(api_key)
    return spec is not None and spec.is_served and spec.speaks(version)


def advertised_versions() -> tuple[ApiVersion, ...]:
    """What ApiVersions answers: the served APIs in the order of their keys."""
    return tuple(
        ApiVersion(api_key=int(spec.key), min_version=spec.advertised_min, max_version=spec.max_version)
        for spec in sorted(_TABLE, key=lambda spec: spec.key)
        if spec.is_served
    )
