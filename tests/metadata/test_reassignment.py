import pytest
from tests.metadata.cluster import (
    FIVE,
    FOUR,
    ONE,
    THREE,
    TWO,
    changed,
    make_broker,
    make_image,
    make_partition,
    only,
)

from penstock.metadata.image import ClusterImage
from penstock.metadata.reassignment import alter_reassignments, list_reassignments
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopic,
)
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
)

BROKERS = [make_broker(number) for number in range(1, 6)]


def reassign(
    image: ClusterImage,
    replicas: tuple[int, ...] | None,
    *,
    topic: str = "orders",
    index: int = 0,
    may_change_size: bool = True,
) -> tuple[ReassignablePartitionResponse, ClusterImage]:
    place = ReassignablePartition(partition_index=index, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=(ReassignableTopic(name=topic, partitions=(place,)),),
        allow_replication_factor_change=may_change_size,
    )
    result = alter_reassignments(image, request)
    (answer,) = result.response.responses[0].partitions
    return answer, image.apply(result.records)


def test_new_replicas_are_added_before_old_ones_go() -> None:
    answer, after = reassign(make_image(brokers=BROKERS), (4, 2, 5))
    assert answer.error_code == 0
    partition = only(after)
    assert partition.replicas == (FOUR, TWO, FIVE, ONE, THREE)
    assert partition.adding_replicas == (FOUR, FIVE)
    assert partition.removing_replicas == (ONE, THREE)
    assert (partition.leader, partition.leader_epoch) == (ONE, 4)


def test_move_ends_when_all_that_were_added_are_in_sync() -> None:
    _, moving = reassign(make_image(brokers=BROKERS), (4, 2))
    assert only(changed(moving, isr=(1, 2, 3))).is_reassigning
    done = only(reassign(changed(moving, isr=(1, 2, 3, 4)), (4, 2))[1])
    assert (done.replicas, set(done.isr)) == ((FOUR, TWO), {FOUR, TWO})
    assert (done.leader, done.leader_epoch, done.is_reassigning) == (FOUR, 5, False)


def test_new_order_of_the_same_replicas_holds_at_once() -> None:
    _, after = reassign(make_image(), (3, 2, 1))
    assert only(after).replicas == (THREE, TWO, ONE)
    assert not only(after).is_reassigning
    assert only(after).leader == ONE


def test_smaller_set_waits_for_everybody_who_stays() -> None:
    _, waiting = reassign(make_image(make_partition(isr=(1, 3))), (1, 2))
    assert only(waiting).removing_replicas == (THREE,)
    _, done = reassign(make_image(make_partition()), (1, 2))
    assert only(done).replicas == (ONE, TWO)
    assert only(done).leader_epoch == 5  # Forget what is known of the replica that went.


def test_move_under_way_takes_another_direction() -> None:
    _, moving = reassign(make_image(brokers=BROKERS), (4, 2, 3))
    partition = only(reassign(moving, (4, 5, 3))[1])
    assert partition.replicas == (FOUR, FIVE, THREE, ONE, TWO)
    # Broker 4 is still not in sync, so the move is not done without it.
    assert partition.adding_replicas == (FOUR, FIVE)


def test_stopped_move_leaves_the_partition_as_it_was() -> None:
    _, moving = reassign(make_image(brokers=BROKERS), (4, 2, 5))
    answer, after = reassign(changed(moving, isr=(1, 2, 4)), None)
    assert answer.error_code == 0
    partition = only(after)
    assert set(partition.replicas) == {ONE, TWO, THREE}
    assert partition.isr == (ONE, TWO)
    assert not partition.is_reassigning


def test_move_cannot_be_stopped_when_only_new_replicas_are_in_sync() -> None:
    _, moving = reassign(make_image(brokers=BROKERS), (4, 5))
    only_new = changed(moving, isr=(4,), leader=4)
    answer, after = reassign(only_new, None)
    assert answer.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert after.topics is only_new.topics


def test_move_can_be_stopped_uncleanly_where_the_topic_allows_it() -> None:
    allowing = make_image(brokers=BROKERS, configs={"unclean.leader.election.enable": "true"})
    _, moving = reassign(allowing, (4, 5))
    _, after = reassign(changed(moving, isr=(4,), leader=4), None)
    assert only(after).leader == ONE
    assert only(after).leader_recovery_state == 1


def test_nothing_to_stop_is_refused() -> None:
    answer, _ = reassign(make_image(), None)
    assert answer.error_code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


@pytest.mark.parametrize("replicas", [(), (9,), (1, 1)])
def test_set_that_cannot_be_is_refused(replicas: tuple[int, ...]) -> None:
    answer, _ = reassign(make_image(), replicas)
    assert answer.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.parametrize(("topic", "index"), [("missing", 0), ("orders", 1), ("orders", -1)])
def test_unknown_partition_is_refused(topic: str, index: int) -> None:
    answer, _ = reassign(make_image(), (1,), topic=topic, index=index)
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_number_of_replicas_changes_only_if_it_may() -> None:
    image = make_image(brokers=BROKERS)
    refused, _ = reassign(image, (1, 2), may_change_size=False)
    assert refused.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    accepted, moving = reassign(image, (4, 5, 1), may_change_size=False)
    assert accepted.error_code == 0
    # What is only being added does not count.
    assert reassign(moving, (4, 2, 1), may_change_size=False)[0].error_code == 0


def test_moves_are_listed() -> None:
    image = make_image(make_partition(), make_partition(), brokers=BROKERS)
    assert list_reassignments(image, ListPartitionReassignmentsRequest()).topics == ()
    _, moving = reassign(image, (4, 2, 3), index=1)
    (topic,) = list_reassignments(moving, ListPartitionReassignmentsRequest()).topics
    assert topic.name == "orders"
    assert topic.partitions == (
        OngoingPartitionReassignment(
            partition_index=1, replicas=(4, 2, 3, 1), adding_replicas=(4,), removing_replicas=(1,)
        ),
    )


def test_moves_are_listed_only_where_asked() -> None:
    _, moving = reassign(make_image(brokers=BROKERS), (4, 2, 3))

    def listed(topic: str, *indexes: int) -> int:
        asked = ListPartitionReassignmentsTopics(name=topic, partition_indexes=indexes)
        return len(list_reassignments(moving, ListPartitionReassignmentsRequest(topics=(asked,))).topics)

    assert listed("orders", 0) == 1
    assert listed("orders", 1, -1) == 0
    assert listed("missing", 0) == 0
