from tests.metadata.cluster import ONE, directory_of, make_image

from penstock.metadata.describe_quorum import QuorumFacts, QuorumMember, describe_quorum
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.model.names import METADATA_TOPIC
from penstock.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    Listener,
    Node,
    PartitionData,
    PartitionRequest,
    ReplicaState,
    TopicRequest,
)

FACTS = QuorumFacts(
    leader_id=ONE,
    leader_epoch=3,
    high_watermark=40,
    voters=(
        QuorumMember(node_id=ONE, directory_id=directory_of(1), log_end_offset=41),
        QuorumMember(node_id=NodeId(9), directory_id=directory_of(9)),
    ),
    observers=(
        QuorumMember(
            node_id=NodeId(2),
            directory_id=directory_of(2),
            log_end_offset=40,
            last_fetch_ms=7,
            last_caught_up_ms=6,
        ),
    ),
)


def ask(topic: str, index: int) -> PartitionData:
    request = DescribeQuorumRequest(
        topics=(TopicRequest(topic_name=topic, partitions=(PartitionRequest(partition_index=index),)),)
    )
    (described,) = describe_quorum(make_image(), request, FACTS).topics
    assert described.topic_name == topic
    return described.partitions[0]


def test_quorum_is_described_with_voters_and_observers() -> None:
    assert ask(METADATA_TOPIC, 0) == PartitionData(
        partition_index=0,
        leader_id=1,
        leader_epoch=3,
        high_watermark=40,
        current_voters=(
            ReplicaState(replica_id=1, replica_directory_id=directory_of(1), log_end_offset=41),
            ReplicaState(replica_id=9, replica_directory_id=directory_of(9), log_end_offset=-1),
        ),
        observers=(
            ReplicaState(
                replica_id=2,
                replica_directory_id=directory_of(2),
                log_end_offset=40,
                last_fetch_timestamp=7,
                last_caught_up_timestamp=6,
            ),
        ),
    )


def test_addresses_of_voters_are_told_as_far_as_they_are_known() -> None:
    response = describe_quorum(make_image(), DescribeQuorumRequest(), FACTS)
    assert response.nodes == (
        Node(node_id=1, listeners=(Listener(name="PLAINTEXT", host="host1", port=9001),)),
        Node(node_id=9),
    )


def test_other_partitions_have_no_quorum() -> None:
    assert ask("orders", 0).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(METADATA_TOPIC, 1).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
