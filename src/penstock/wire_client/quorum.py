"""Who decides on metadata, as far as the cluster tells: one without KRaft, or an old one, has no answer."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from penstock.model.names import METADATA_TOPIC
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    PartitionData,
    PartitionRequest,
    ReplicaState,
    TopicRequest,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.controller import ask_controller
from penstock.wire_client.errors import check


class QuorumRole(StrEnum):
    """What a node is in the quorum."""

    LEADER = "leader"
    VOTER = "voter"
    OBSERVER = "observer"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumNode:
    """A node that follows the metadata log; ``lag`` is how many records it is behind the leader."""

    node: int
    role: QuorumRole
    log_end_offset: int
    lag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumDescription:
    """The quorum as its leader sees it, voters before observers."""

    leader: int
    epoch: int
    high_watermark: int
    nodes: tuple[QuorumNode, ...]

    def node(self, node_id: int) -> QuorumNode | None:
        """What is known of one node."""
        return next((each for each in self.nodes if each.node == node_id), None)

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        return asdict(self)


def describe_quorum(cluster: Cluster) -> QuorumDescription | None:
    """The quorum, or None where nobody can be asked for it."""
    if not cluster.any_broker().serves(ApiKey.DESCRIBE_QUORUM):
        return None
    topic = TopicRequest(topic_name=METADATA_TOPIC, partitions=(PartitionRequest(partition_index=0),))
    answer = ask_controller(cluster, ApiKey.DESCRIBE_QUORUM, DescribeQuorumRequest(topics=(topic,)))
    check(answer.error_code, doing="describe the quorum", detail=answer.error_message)
    partition: PartitionData = answer.topics[0].partitions[0]
    check(partition.error_code, doing="describe the quorum", detail=partition.error_message)
    return _description(partition)


def _description(partition: PartitionData) -> QuorumDescription:
    ends = {each.replica_id: each.log_end_offset for each in partition.current_voters}
    end = max(ends.get(partition.leader_id, 0), partition.high_watermark)
    voters = [_node(each, _voter_role(each, partition), end) for each in partition.current_voters]
    observers = [_node(each, QuorumRole.OBSERVER, end) for each in partition.observers]
    return QuorumDescription(
        leader=partition.leader_id,
        epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        nodes=(*_in_order(voters), *_in_order(observers)),
    )


def _in_order(nodes: list[QuorumNode]) -> list[QuorumNode]:
    return sorted(nodes, key=lambda each: each.node)


def _voter_role(state: ReplicaState, partition: PartitionData) -> QuorumRole:
    return QuorumRole.LEADER if state.replica_id == partition.leader_id else QuorumRole.VOTER


def _node(state: ReplicaState, role: QuorumRole, end: int) -> QuorumNode:
    lag = max(0, end - max(0, state.log_end_offset))
    return QuorumNode(node=state.replica_id, role=role, log_end_offset=state.log_end_offset, lag=lag)
