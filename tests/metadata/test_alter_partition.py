from collections.abc import Sequence

import pytest
from tests.metadata.cluster import ONE, ORDERS, THREE, TWO, make_broker, make_image, make_partition, only

from penstock.metadata.alter_partition import alter_partition
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicId
from penstock.wire.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    PartitionResult,
    TopicData,
)

LEADER_EPOCH, PARTITION_EPOCH = 4, 7


def ask(
    image: ClusterImage,
    isr: Sequence[int],
    *,
    epochs: dict[int, int] | None = None,
    version: int = 3,
    broker: tuple[int, int] = (1, 11),
    topic_id: TopicId = ORDERS,
    fields: dict[str, int] | None = None,
) -> tuple[PartitionResult, ClusterImage]:
    """Broker 1 asks for ``isr``, naming everybody's registered epoch unless ``epochs`` says otherwise."""
    known = {1: 11, 2: 12, 3: 13, 4: 14} | (epochs or {})
    values = {"partition_index": 0, "leader_epoch": LEADER_EPOCH, "partition_epoch": PARTITION_EPOCH}
    values |= fields or {}
    partition = PartitionData(
        new_isr=tuple(isr) if version < 3 else (),
        new_isr_with_epochs=tuple(BrokerState(broker_id=id, broker_epoch=known[id]) for id in isr),
        **values,
    )
    request = AlterPartitionRequest(
        broker_id=broker[0],
        broker_epoch=broker[1],
        topics=(TopicData(topic_id=topic_id, partitions=(partition,)),),
    )
    result = alter_partition(image, request, version=version)
    assert result.response.error_code == 0
    (answer,) = result.response.topics[0].partitions
    return answer, image.apply(result.records)


def test_set_shrinks_and_the_new_state_is_answered() -> None:
    answer, after = ask(make_image(), [1, 2])
    assert answer == PartitionResult(
        partition_index=0, leader_id=1, leader_epoch=LEADER_EPOCH, isr=(1, 2), partition_epoch=8
    )
    assert only(after).isr == (ONE, TWO)


def test_set_grows_by_a_replica_with_the_epoch_it_registered_with() -> None:
    answer, after = ask(make_image(make_partition(isr=(1,))), [1, 3])
    assert answer.error_code == 0
    assert only(after).isr == (ONE, THREE)


def test_set_that_is_as_it_was_makes_older_requests_stale() -> None:
    answer, after = ask(make_image(), [1, 2, 3])
    assert (answer.isr, answer.partition_epoch) == ((1, 2, 3), PARTITION_EPOCH + 1)
    late, _ = ask(after, [1, 2])
    assert late.error_code == ErrorCode.INVALID_UPDATE_VERSION


def test_older_requests_name_members_without_epochs() -> None:
    answer, after = ask(make_image(), [1], version=2)
    assert answer.error_code == 0
    assert only(after).isr == (ONE,)


def test_member_that_leaves_too_small_a_set_is_eligible() -> None:
    _, after = ask(make_image(configs={"min.insync.replicas": "2"}), [1])
    assert only(after).eligible_leader_replicas == (TWO, THREE)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"leader_epoch": 3}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"leader_epoch": 5}, ErrorCode.NOT_CONTROLLER),
        ({"partition_epoch": 6}, ErrorCode.INVALID_UPDATE_VERSION),
        ({"partition_epoch": 8}, ErrorCode.NOT_CONTROLLER),
        ({"partition_index": 1}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ({"leader_recovery_state": 2}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_request_of_another_state_is_refused(fields: dict[str, int], error: ErrorCode) -> None:
    image = make_image()
    answer, after = ask(image, [1], fields=fields)
    assert answer.error_code == error
    assert after.topics is image.topics


@pytest.mark.parametrize("isr", [[1, 4], [2, 3], []])
def test_set_that_is_no_set_of_replicas_with_the_leader_is_refused(isr: list[int]) -> None:
    assert ask(make_image(), isr)[0].error_code == ErrorCode.INVALID_REQUEST


def test_broker_that_does_not_lead_is_refused() -> None:
    answer, _ = ask(make_image(), [2], broker=(2, 12))
    assert answer.error_code == ErrorCode.INVALID_REQUEST


def test_unknown_topic_is_refused() -> None:
    answer, _ = ask(make_image(), [1], topic_id=TopicId(b"x" * 16))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("epochs", [{3: 12}, {3: 14}])
def test_member_of_another_epoch_is_not_eligible(epochs: dict[int, int]) -> None:
    """The replica has restarted since it caught up, perhaps with less on its disk (KIP-903)."""
    answer, _ = ask(make_image(make_partition(isr=(1,))), [1, 3], epochs=epochs)
    assert answer.error_code == ErrorCode.INELIGIBLE_REPLICA


@pytest.mark.parametrize("state", ["fenced", "stopping"])
def test_member_that_may_not_be_counted_on_is_not_eligible(state: str) -> None:
    brokers = [make_broker(1), make_broker(2), make_broker(3, **{state: True})]  # type: ignore[arg-type]
    answer, _ = ask(make_image(make_partition(isr=(1,)), brokers=brokers), [1, 3])
    assert answer.error_code == ErrorCode.INELIGIBLE_REPLICA


def test_member_that_is_not_registered_is_not_eligible() -> None:
    image = make_image(make_partition(isr=(1,)), brokers=[make_broker(1)])
    assert ask(image, [1, 3])[0].error_code == ErrorCode.INELIGIBLE_REPLICA


def test_leader_that_has_recovered_may_have_followers_again() -> None:
    image = make_image(make_partition(isr=(1,), recovery_state=1))
    refused, _ = ask(image, [1, 2], fields={"leader_recovery_state": 1})
    assert refused.error_code == ErrorCode.INVALID_REQUEST
    answer, after = ask(image, [1, 2])
    assert answer.error_code == 0
    assert only(after).leader_recovery_state == 0


def test_change_that_completes_a_move_and_takes_the_lead_is_done_and_refused() -> None:
    partition = make_partition((2, 3, 1), isr=(1, 2), leader=1, adding=(3,), removing=(1,))
    answer, after = ask(make_image(partition), [1, 2, 3])
    assert answer.error_code == ErrorCode.NEW_LEADER_ELECTED
    assert (only(after).leader, only(after).replicas, only(after).leader_epoch) == (TWO, (TWO, THREE), 5)


@pytest.mark.parametrize(
    ("broker", "error"),
    [((1, 10), ErrorCode.STALE_BROKER_EPOCH), ((9, 1), ErrorCode.BROKER_ID_NOT_REGISTERED)],
)
def test_process_that_is_not_registered_is_refused_as_a_whole(
    broker: tuple[int, int], error: ErrorCode
) -> None:
    request = AlterPartitionRequest(broker_id=broker[0], broker_epoch=broker[1])
    result = alter_partition(make_image(), request)
    assert (result.records, result.response.error_code) == ((), error)


def test_partition_named_twice_changes_once() -> None:
    partition = PartitionData(
        partition_index=0,
        leader_epoch=LEADER_EPOCH,
        partition_epoch=PARTITION_EPOCH,
        new_isr_with_epochs=(BrokerState(broker_id=1, broker_epoch=11),),
    )
    topic = TopicData(topic_id=ORDERS, partitions=(partition, partition))
    request = AlterPartitionRequest(broker_id=1, broker_epoch=11, topics=(topic,))
    result = alter_partition(make_image(), request)
    assert [each.error_code for each in result.response.topics[0].partitions] == [
        0,
        ErrorCode.INVALID_REQUEST,
    ]
    assert len(result.records) == 1
