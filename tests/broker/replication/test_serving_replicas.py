"""What clients get from leaders, followers and brokers that are neither; and who may claim to copy."""

from collections.abc import Iterator

import pytest
from tests.broker.replication.small_cluster import (
    TOPIC,
    TOPIC_ID,
    Node,
    SmallCluster,
    no_error,
    values_in,
)

from penstock.broker.fetch_sessions import FINAL_EPOCH
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.wire.messages.describe_producers import DescribeProducersRequest
from penstock.wire.messages.describe_producers import TopicRequest as ProducersTopic
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData, ReplicaState
from penstock.wire.messages.list_offsets import (
    MAX_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)


@pytest.fixture
def cluster() -> Iterator[SmallCluster]:
    made = SmallCluster()
    yield made
    made.close()


# Hints (KIP-951).


@pytest.mark.parametrize("id", [2, 3], ids=["a follower", "a broker without the partition"])
def test_producer_at_the_wrong_broker_is_told_who_leads(cluster: SmallCluster, id: int) -> None:
    cluster.make_topic((1, 2))
    batch = build_batch([NewRecord(value=b"a")])
    response = cluster.run(cluster.produce_batch(id, batch, acks=1, timeout_ms=1000, index=0, version=10))
    refused = response.responses[0].partition_responses[0]
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (1, 0)
    assert [(each.node_id, each.host, each.port) for each in response.node_endpoints] == [(1, "n1", 9092)]


@pytest.mark.parametrize("version", [15, 16])
def test_consumer_at_the_wrong_broker_is_told_who_leads(cluster: SmallCluster, version: int) -> None:
    cluster.make_topic((1, 2))
    response = cluster.run(
        cluster.fetch_all(3, 0, index=0, max_wait_ms=0, rack="", version=version, epoch=-1)
    )
    refused = response.responses[0].partitions[0]
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (1, 0)
    assert [each.node_id for each in response.node_endpoints] == ([1] if version >= 16 else [])


def test_consumer_with_an_old_epoch_is_told_the_new_one(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.fence(1)
    cluster.settle()
    refused = cluster.run(cluster.fetch(2, epoch=0))
    assert refused.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (2, 1)
    assert cluster.run(cluster.fetch(2, epoch=7)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_partition_that_exists_nowhere_is_unknown(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    assert cluster.run(cluster.fetch(1, index=5)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# Reading from followers (KIP-392).


def test_consumer_is_sent_to_the_replica_in_its_rack(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    no_error(cluster.run(cluster.produce(1, b"a")))
    sent_away = cluster.run(cluster.fetch(1, rack="rack-3", max_wait_ms=10_000))
    assert (sent_away.preferred_read_replica, values_in(sent_away)) == (3, [])
    for rack in ("rack-1", "elsewhere", ""):
        served = cluster.run(cluster.fetch(1, rack=rack))
        assert (served.preferred_read_replica, values_in(served)) == (-1, [b"a"])


def test_follower_serves_consumers_up_to_its_high_watermark(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2, 3))
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.run_until(lambda: cluster.nodes[2].partition().high_watermark == 1)
    cluster.network.block([("n1", "n3"), ("n3", "n1")])
    no_error(cluster.run(cluster.produce(1, b"b", acks=1)))
    cluster.run_until(lambda: cluster.nodes[2].values() == [b"a", b"b"])
    assert values_in(cluster.run(cluster.fetch(2))) == [b"a"]
    assert values_in(cluster.run(cluster.fetch(2, offset=1))) == []
    assert cluster.run(cluster.fetch(2, offset=2)).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert cluster.run(cluster.fetch(2, version=10)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_waiting_consumer_of_a_follower_is_woken_by_its_high_watermark(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    waiting = cluster.client_loop.create_task(cluster.fetch(2, max_wait_ms=20_000))
    cluster.pass_time(0.1)
    no_error(cluster.run(cluster.produce(1, b"a")))
    cluster.run_until(waiting.done, seconds_max=1.0)
    assert values_in(waiting.result()) == [b"a"]


# Disks that do not hand over what they have.


async def fetch_both(cluster: SmallCluster, *, min_bytes: int = 1) -> list[PartitionData]:
    """Both partitions from the leader, in one request."""
    positions = tuple(FetchPartition(partition=index, partition_max_bytes=1 << 20) for index in (0, 1))
    request = FetchRequest(
        max_wait_ms=20_000, min_bytes=min_bytes, topics=(FetchTopic(topic=TOPIC, partitions=positions),)
    )
    response = await cluster.client.ask(NodeId(1), request, 12, seconds_max=30)
    return list(response.responses[0].partitions)


def fill_and_forget(cluster: SmallCluster) -> Node:
    """Two partitions with a record each, of which the leader remembers nothing but what is on its disk."""
    cluster.make_topic((1, 2), (1, 2))
    cluster.kill(2)
    for index in (0, 1):
        no_error(cluster.run(cluster.produce(1, b"cold", acks=1, index=index)))
    cluster.kill(1)
    return cluster.restart(1)


UNREADABLE = "read:error=EIO:path=orders-0/00000000000000000000.log"


def test_partition_that_cannot_be_read_keeps_nothing_from_its_neighbour(cluster: SmallCluster) -> None:
    leader = fill_and_forget(cluster)
    cluster.restart(2)
    cluster.run_until(lambda: all(leader.partition(index).high_watermark == 1 for index in (0, 1)))
    leader.strike(UNREADABLE)
    broken, sound = cluster.run(fetch_both(cluster))
    assert (broken.error_code, sound.error_code) == (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE)
    assert values_in(sound) == [b"cold"]
    assert "Input/output error" in str(leader.failures[0])
    leader.strike("")
    assert [values_in(read) for read in cluster.run(fetch_both(cluster))] == [[b"cold"], [b"cold"]]


def test_partition_that_cannot_be_read_is_copied_later_and_its_neighbour_now(cluster: SmallCluster) -> None:
    leader = fill_and_forget(cluster)
    leader.strike(UNREADABLE)
    follower = cluster.restart(2)
    cluster.run_until(lambda: leader.partition(1).high_watermark == 1)
    cluster.run_until(lambda: len(leader.failures) >= 2)
    assert (follower.values(0), follower.values(1)) == ([], [b"cold"])
    leader.strike("")
    cluster.run_until(lambda: leader.partition(0).high_watermark == 1)
    assert follower.values(0) == [b"cold"]


@pytest.mark.parametrize("after", range(3))
def test_read_that_fails_at_any_point_is_answered(cluster: SmallCluster, after: int) -> None:
    cluster.make_topic((1,), (1,))
    for index in (0, 1):
        no_error(cluster.run(cluster.produce(1, b"cold", index=index)))
    stopping = cluster.nodes[1].loop.create_task(cluster.nodes[1].stop())
    cluster.run_until(stopping.done)
    cluster.kill(1)
    cluster.restart(1).strike(f"{UNREADABLE}:after={after}:count=1")
    broken, sound = cluster.run(fetch_both(cluster))
    assert broken.error_code in (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.CORRUPT_MESSAGE)
    assert values_in(sound) == [b"cold"]


def test_waiting_consumer_that_finds_its_partition_unreadable_is_told_and_writing_goes_on(
    cluster: SmallCluster,
) -> None:
    leader = fill_and_forget(cluster)
    cluster.restart(2)
    cluster.run_until(lambda: all(leader.partition(index).high_watermark == 1 for index in (0, 1)))
    waiting = cluster.client_loop.create_task(fetch_both(cluster, min_bytes=10_000))
    cluster.pass_time(0.1)
    assert not waiting.done()
    leader.strike(UNREADABLE)
    no_error(cluster.run(cluster.produce(1, b"new", index=0)))
    cluster.run_until(waiting.done, seconds_max=1.0)
    assert waiting.result()[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    for index in (0, 1):
        no_error(cluster.run(cluster.produce(1, b"newer", index=index)))


def test_moment_in_a_partition_that_cannot_be_read_is_an_error_of_its_own(cluster: SmallCluster) -> None:
    leader = fill_and_forget(cluster)
    cluster.restart(2)
    cluster.run_until(lambda: all(leader.partition(index).high_watermark == 1 for index in (0, 1)))
    leader.strike(UNREADABLE)
    asked = tuple(ListOffsetsPartition(partition_index=index, timestamp=MAX_TIMESTAMP) for index in (0, 1))
    request = ListOffsetsRequest(topics=(ListOffsetsTopic(name=TOPIC, partitions=asked),))
    answer = cluster.run(cluster.client.ask(NodeId(1), request, 7, seconds_max=5))
    broken, sound = answer.topics[0].partitions
    assert (broken.error_code, sound.error_code) == (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE)
    assert sound.offset == 0


# Other questions are for leaders.


def test_follower_leaves_questions_to_the_leader(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    assert cluster.run(cluster.latest_offset(2)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    producers = DescribeProducersRequest(topics=(ProducersTopic(name=TOPIC, partition_indexes=(0,)),))
    answer = cluster.run(cluster.client.ask(NodeId(2), producers, 0, seconds_max=5))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    epochs = OffsetForLeaderEpochRequest(
        topics=(
            OffsetForLeaderTopic(
                topic=TOPIC, partitions=(OffsetForLeaderPartition(partition=0, leader_epoch=0),)
            ),
        )
    )
    answer = cluster.run(cluster.client.ask(NodeId(2), epochs, 4, seconds_max=5))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


# Claims to be a replica.


async def claim(
    cluster: SmallCluster, replica_id: int, *, epoch: int = 99, offset: int = 0, leader_epoch: int = 0
) -> PartitionData:
    request = FetchRequest(
        replica_state=ReplicaState(replica_id=replica_id, replica_epoch=epoch),
        max_wait_ms=0,
        session_epoch=FINAL_EPOCH,
        topics=(
            FetchTopic(
                topic_id=TOPIC_ID,
                partitions=(
                    FetchPartition(
                        partition=0,
                        fetch_offset=offset,
                        current_leader_epoch=leader_epoch,
                        partition_max_bytes=1 << 20,
                    ),
                ),
            ),
        ),
    )
    response = await cluster.client.ask(NodeId(1), request, 17, seconds_max=5)
    found: PartitionData = response.responses[0].partitions[0]
    return found


def test_claim_of_a_broker_that_does_not_exist_is_refused(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    assert cluster.run(claim(cluster, 77)).error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert cluster.run(claim(cluster, 1)).error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_claim_of_a_broker_without_the_partition_moves_nothing(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.network.block([("n1", "n2"), ("n2", "n1")])
    no_error(cluster.run(cluster.produce(1, b"a", acks=1)))
    refused = cluster.run(claim(cluster, 3, offset=1))
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert cluster.nodes[1].partition().high_watermark == 0


def test_fetch_of_an_older_process_moves_nothing(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    cluster.network.block([("n1", "n2"), ("n2", "n1")])
    no_error(cluster.run(cluster.produce(1, b"a", acks=1)))
    answered = cluster.run(claim(cluster, 2, epoch=0, offset=1))
    assert answered.error_code == ErrorCode.NONE
    assert cluster.nodes[1].partition().high_watermark == 0


@pytest.mark.parametrize(
    ("leader_epoch", "code"), [(3, ErrorCode.UNKNOWN_LEADER_EPOCH), (-1, ErrorCode.FENCED_LEADER_EPOCH)]
)
def test_follower_of_another_epoch_is_refused(
    cluster: SmallCluster, leader_epoch: int, code: ErrorCode
) -> None:
    cluster.make_topic((1, 2))
    assert cluster.run(claim(cluster, 2, leader_epoch=leader_epoch)).error_code == code


def test_follower_beyond_the_end_is_out_of_range(cluster: SmallCluster) -> None:
    cluster.make_topic((1, 2))
    assert cluster.run(claim(cluster, 2, offset=9)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
