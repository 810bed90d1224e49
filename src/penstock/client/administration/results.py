"""What an administrator is told: frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.client.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic to create; what is None is the brokers' default."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    replicas: Sequence[Sequence[int]] | None = None
    """Brokers of every partition, in place of ``partitions`` and ``replication_factor``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker's number and address."""

    id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDescription:
    """Who is there."""

    cluster_id: str
    controller: Broker | None
    """Who decides; None while nobody does."""
    brokers: Sequence[Broker]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDescription:
    """Who has a partition; brokers are given by number."""

    partition: int
    leader: int | None
    replicas: Sequence[int]
    in_sync_replicas: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic and its partitions."""

    name: str
    topic_id: str
    is_internal: bool
    partitions: Sequence[PartitionDescription]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """A setting of a topic, broker or group."""

    name: str
    value: str | None
    """None if it is not set, or secret."""
    source: str
    """Who has set it, such as DYNAMIC_TOPIC_CONFIG or DEFAULT_CONFIG."""
    is_default: bool
    is_read_only: bool
    is_sensitive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    """A group and how it is."""

    group_id: str
    state: str
    protocol: str
    """classic or consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """A member and what it reads."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    partitions: Sequence[TopicPartition]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    """A group and its members."""

    group_id: str
    state: str
    protocol: str
    assignor: str
    coordinator: Broker | None
    members: Sequence[GroupMember]
