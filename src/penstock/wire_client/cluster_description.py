"""The whole cluster, put together from what several requests tell: brokers, partitions, quorum, disks.

Metadata alone must be answered. The others are asked where they are served, and what a broker keeps to itself
is missing from the description, with a note saying why: a cluster in trouble is looked at most of all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterRequest
from penstock.wire.messages.metadata import MetadataResponse
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.connection import Address
from penstock.wire_client.disks import BrokerDisks, describe_disks
from penstock.wire_client.errors import WireClientError, check
from penstock.wire_client.quorum import QuorumDescription, QuorumRole, describe_quorum

_FENCED_BROKERS_VERSION = 2
"""Of DescribeCluster: the first that tells of brokers which are shut out."""

_NOBODY = -1


class BrokerState(StrEnum):
    """How a broker is."""

    UP = "up"
    DRAINING = "draining"
    """Up, and being emptied: nothing new goes there."""
    FENCED = "fenced"
    """Known to the controller, which has not heard of it for too long."""
    DOWN = "down"
    """Named as a replica, and nobody says more of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDescription:
    """Who holds a partition; ``leader`` is -1 for nobody."""

    where: TopicPartition
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica is behind."""
        return len(self.isr) < len(self.replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerDescription:
    """One broker; where it does not tell, None."""

    broker: int
    address: Address | None
    rack: str | None
    state: BrokerState
    is_controller: bool
    quorum_role: QuorumRole | None
    leaders: int
    replicas: int
    in_sync: int
    disks: BrokerDisks | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDescription:
    """The cluster; brokers and partitions in order. ``notes`` say what could not be found out."""

    cluster_id: str | None
    controller: int | None
    brokers: tuple[BrokerDescription, ...]
    quorum: QuorumDescription | None
    partitions: tuple[PartitionDescription, ...]
    notes: tuple[str, ...]

    def broker(self, node_id: int) -> BrokerDescription | None:
        """What is known of one broker."""
        return next((each for each in self.brokers if each.broker == node_id), None)


def describe_cluster(cluster: Cluster) -> ClusterDescription:
    """Ask everybody, and put the answers together."""
    metadata = cluster.metadata(None)
    partitions = tuple(_partitions(metadata))
    quorum, notes = _quorum(cluster)
    known = _known_brokers(cluster, metadata)
    disks = describe_disks(cluster, [node_id for node_id, broker in known.items() if not broker.is_fenced])
    controller = metadata.controller_id if quorum is None else quorum.leader
    answers = _Answers(
        known=known,
        disks=disks,
        roles={} if quorum is None else {node.node: node.role for node in quorum.nodes},
        controller=controller,
        leaders=Counter(each.leader for each in partitions),
        replicas=Counter(node_id for each in partitions for node_id in each.replicas),
        in_sync=Counter(node_id for each in partitions for node_id in each.isr),
    )
    return ClusterDescription(
        cluster_id=metadata.cluster_id,
        controller=None if controller == _NOBODY else controller,
        brokers=tuple(map(answers.broker, sorted(known.keys() | answers.replicas.keys()))),
        quorum=quorum,
        partitions=partitions,
        notes=(*notes, *(each for each in disks.values() if isinstance(each, str))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """What was told, by the numbers of brokers."""

    known: Mapping[int, DescribeClusterBroker]
    disks: Mapping[int, BrokerDisks | str]
    roles: Mapping[int, QuorumRole]
    controller: int
    leaders: Counter[int]
    replicas: Counter[int]
    in_sync: Counter[int]

    def broker(self, node_id: int) -> BrokerDescription:
        broker, told = self.known.get(node_id), self.disks.get(node_id)
        disks = told if isinstance(told, BrokerDisks) else None
        return BrokerDescription(
            broker=node_id,
            address=None if broker is None else Address(broker.host, broker.port),
            rack=None if broker is None else broker.rack,
            state=_state(broker, disks),
            is_controller=node_id == self.controller,
            quorum_role=self.roles.get(node_id),
            leaders=self.leaders[node_id],
            replicas=self.replicas[node_id],
            in_sync=self.in_sync[node_id],
            disks=disks,
        )


def _partitions(metadata: MetadataResponse) -> Iterable[PartitionDescription]:
    for topic in sorted(metadata.topics, key=lambda each: each.name or ""):
        if topic.error_code not in PASSING:
            check(topic.error_code, doing=f"read the metadata of topic {topic.name!r}")
        for partition in sorted(topic.partitions, key=lambda each: each.partition_index):
            yield PartitionDescription(
                where=TopicPartition(topic.name or "", partition.partition_index),
                leader=partition.leader_id,
                replicas=partition.replica_nodes,
                isr=partition.isr_nodes,
            )


def _quorum(cluster: Cluster) -> tuple[QuorumDescription | None, list[str]]:
    try:
        return describe_quorum(cluster), []
    except WireClientError as error:
        return None, [f"The quorum is not known: {error}"]


def _known_brokers(cluster: Cluster, metadata: MetadataResponse) -> dict[int, DescribeClusterBroker]:
    """Brokers by their numbers; fenced ones too where the cluster tells of them."""
    anybody = cluster.any_broker()
    api = ApiKey.DESCRIBE_CLUSTER
    if not anybody.serves(api) or anybody.version(api) < _FENCED_BROKERS_VERSION:
        return {
            each.node_id: DescribeClusterBroker(
                broker_id=each.node_id, host=each.host, port=each.port, rack=each.rack
            )
            for each in metadata.brokers
        }
    answer = anybody.call(api, DescribeClusterRequest(include_fenced_brokers=True))
    check(answer.error_code, doing="describe the cluster", detail=answer.error_message)
    return {each.broker_id: each for each in answer.brokers}


def _state(broker: DescribeClusterBroker | None, disks: BrokerDisks | None) -> BrokerState:
    if broker is None:
        return BrokerState.DOWN
    if broker.is_fenced:
        return BrokerState.FENCED
    return BrokerState.DRAINING if disks is not None and disks.is_cordoned else BrokerState.UP
