"""The one table of the protocol: every API's key, name, versions and messages.

ApiVersions, the dispatch of requests and the documentation all come from here. An API whose messages exist
but which the broker does not answer is ``is_served=False``: it can be read and written, but is neither
advertised nor dispatched. One that is ``is_private`` is dispatched and not advertised: only our own nodes use
it.

Messages are found by name: the module of an API is named after its key, its classes after the API. It is
loaded when first asked for, since no process needs all of them and each costs a start half a millisecond.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import import_module
from types import MappingProxyType

from penstock.wire.messages.api_versions import ApiVersion
from penstock.wire.schema import Struct

NEVER_FLEXIBLE = 0x7FFF
"""As the first flexible version: of an API that stayed as it was."""


class ApiKey(IntEnum):
    """The APIs whose messages we know."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    # Penstock's own, far above any number of Kafka's. Clients look for the keys they know, so one more in
    # ApiVersions disturbs nobody, and our own tools find it there like any other.
    JOIN_CLUSTER = 10_100
    DECOMMISSION_BROKER = 10_101
    # Private: between our own nodes, never told to clients.
    RAFT_VOTE = 10_000
    RAFT_APPEND_ENTRIES = 10_001
    RAFT_INSTALL_SNAPSHOT = 10_002
    RAFT_TIMEOUT_NOW = 10_003
    RAFT_OBSERVE = 10_004
    OFFSET_TIMES = 10_005


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSpec:
    """One API: its versions (both ends included) and the first flexible one."""

    key: ApiKey
    name: str
    min_version: int
    max_version: int
    first_flexible: int
    advertised_min: int
    is_served: bool
    is_private: bool

    @property
    def request(self) -> type[Struct]:
        """The message a client sends."""
        return _message(self.key, f"{self.name}Request")

    @property
    def response(self) -> type[Struct]:
        """The message a broker answers with."""
        return _message(self.key, f"{self.name}Response")

    def speaks(self, version: int) -> bool:
        """Whether requests of this version can be read."""
        return self.min_version <= version <= self.max_version

    def is_flexible(self, version: int) -> bool:
        """Whether this version has compact types and tagged fields, and so the flexible request header."""
        return version >= self.first_flexible

    def has_flexible_response_header(self, version: int) -> bool:
        """As ``is_flexible``, but never for ApiVersions: its answer must be readable before all is agreed."""
        return self.is_flexible(version) and self.key is not ApiKey.API_VERSIONS


@cache
def _message(key: ApiKey, name: str) -> type[Struct]:
    message: type[Struct] = getattr(import_module(f"penstock.wire.messages.{key.name.lower()}"), name)
    return message


def _api(
    key: ApiKey,
    versions: tuple[int, int],
    flexible: int,
    *,
    advertised_min: int | None = None,
    is_served: bool = True,
    is_private: bool = False,
) -> ApiSpec:
    lowest, highest = versions
    return ApiSpec(
        key=key,
        name=key.name.title().replace("_", ""),
        min_version=lowest,
        max_version=highest,
        first_flexible=flexible,
        advertised_min=lowest if advertised_min is None else advertised_min,
        is_served=is_served,
        is_private=is_private,
    )


_TABLE = (
    # Clients built on librdkafka want to see Produce 0, though none of them sends it to us.
    _api(ApiKey.PRODUCE, (3, 13), 9, advertised_min=0),
    _api(ApiKey.FETCH, (4, 18), 12),
    _api(ApiKey.LIST_OFFSETS, (1, 11), 6),
    _api(ApiKey.METADATA, (0, 13), 9),
    _api(ApiKey.OFFSET_COMMIT, (2, 10), 8),
    _api(ApiKey.OFFSET_FETCH, (1, 10), 6),
    _api(ApiKey.FIND_COORDINATOR, (0, 6), 3),
    _api(ApiKey.JOIN_GROUP, (0, 9), 6),
    _api(ApiKey.HEARTBEAT, (0, 4), 4),
    _api(ApiKey.LEAVE_GROUP, (0, 5), 4),
    _api(ApiKey.SYNC_GROUP, (0, 5), 4),
    _api(ApiKey.DESCRIBE_GROUPS, (0, 6), 5),
    _api(ApiKey.LIST_GROUPS, (0, 5), 3),
    # Spoken by our clients to brokers that want a password; ours has none, and must not seem to.
    _api(ApiKey.SASL_HANDSHAKE, (1, 1), NEVER_FLEXIBLE, is_served=False),
    _api(ApiKey.API_VERSIONS, (0, 4), 3),
    _api(ApiKey.CREATE_TOPICS, (2, 7), 5),
    _api(ApiKey.DELETE_TOPICS, (1, 6), 4),
    _api(ApiKey.DELETE_RECORDS, (0, 2), 2),
    _api(ApiKey.INIT_PRODUCER_ID, (0, 5), 2),
    _api(ApiKey.OFFSET_FOR_LEADER_EPOCH, (2, 4), 4),
    _api(ApiKey.ADD_PARTITIONS_TO_TXN, (0, 5), 3),
    _api(ApiKey.ADD_OFFSETS_TO_TXN, (0, 4), 3),
    _api(ApiKey.END_TXN, (0, 5), 3),
    _api(ApiKey.WRITE_TXN_MARKERS, (1, 2), 1),
    _api(ApiKey.TXN_OFFSET_COMMIT, (0, 5), 3),
    _api(ApiKey.DESCRIBE_CONFIGS, (1, 4), 4),
    _api(ApiKey.ALTER_CONFIGS, (0, 2), 2),
    _api(ApiKey.DESCRIBE_LOG_DIRS, (1, 5), 2),
    _api(ApiKey.SASL_AUTHENTICATE, (0, 2), 2, is_served=False),
    _api(ApiKey.CREATE_PARTITIONS, (0, 3), 2),
    _api(ApiKey.DELETE_GROUPS, (0, 2), 2),
    _api(ApiKey.ELECT_LEADERS, (0, 2), 2),
    _api(ApiKey.INCREMENTAL_ALTER_CONFIGS, (0, 1), 1),
    _api(ApiKey.ALTER_PARTITION_REASSIGNMENTS, (0, 1), 0),
    _api(ApiKey.LIST_PARTITION_REASSIGNMENTS, (0, 0), 0),
    _api(ApiKey.OFFSET_DELETE, (0, 0), NEVER_FLEXIBLE),
    _api(ApiKey.DESCRIBE_QUORUM, (0, 2), 0),
    _api(ApiKey.ALTER_PARTITION, (2, 3), 0, is_private=True),
    _api(ApiKey.UPDATE_FEATURES, (0, 2), 0),
    _api(ApiKey.ENVELOPE, (0, 0), 0, is_private=True),
    _api(ApiKey.DESCRIBE_CLUSTER, (0, 2), 0),
    _api(ApiKey.DESCRIBE_PRODUCERS, (0, 0), 0),
    _api(ApiKey.BROKER_REGISTRATION, (0, 4), 0, is_private=True),
    _api(ApiKey.BROKER_HEARTBEAT, (0, 2), 0, is_private=True),
    _api(ApiKey.UNREGISTER_BROKER, (0, 0), 0),
    _api(ApiKey.DESCRIBE_TRANSACTIONS, (0, 0), 0),
    _api(ApiKey.LIST_TRANSACTIONS, (0, 2), 0),
    _api(ApiKey.ALLOCATE_PRODUCER_IDS, (0, 0), 0, is_private=True),
    _api(ApiKey.CONSUMER_GROUP_HEARTBEAT, (0, 1), 0),
    _api(ApiKey.CONSUMER_GROUP_DESCRIBE, (0, 1), 0),
    _api(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, (0, 0), 0),
    _api(ApiKey.PUSH_TELEMETRY, (0, 0), 0),
    _api(ApiKey.LIST_CONFIG_RESOURCES, (0, 1), 0),
    _api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, (0, 0), 0),
    _api(ApiKey.JOIN_CLUSTER, (0, 0), 0, is_private=True),
    _api(ApiKey.DECOMMISSION_BROKER, (0, 1), 0),
    _api(ApiKey.RAFT_VOTE, (0, 0), 0, is_private=True),
    _api(ApiKey.RAFT_APPEND_ENTRIES, (0, 0), 0, is_private=True),
    _api(ApiKey.RAFT_INSTALL_SNAPSHOT, (0, 0), 0, is_private=True),
    _api(ApiKey.RAFT_TIMEOUT_NOW, (0, 0), 0, is_private=True),
    _api(ApiKey.RAFT_OBSERVE, (0, 0), 0, is_private=True),
    _api(ApiKey.OFFSET_TIMES, (0, 0), 0, is_private=True),
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
    """What ApiVersions answers: the APIs served to everybody, in the order of their keys."""
    return tuple(
        ApiVersion(api_key=int(spec.key), min_version=spec.advertised_min, max_version=spec.max_version)
        for spec in sorted(_TABLE, key=lambda spec: spec.key)
        if spec.is_served and not spec.is_private
    )
