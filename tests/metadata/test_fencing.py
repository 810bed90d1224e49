from tests.metadata.cluster import (
    ONE,
    THREE,
    TWO,
    make_broker,
    make_image,
    make_partition,
    only,
    topic_configs,
)

from penstock.metadata.fencing import fence, unfence, unregister_broker
from penstock.metadata.leadership import broker_lost, brokers_left, leaderless_may_be_led
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest


def test_fenced_broker_leads_nothing_at_any_point_of_the_log() -> None:
    image = make_image(make_partition(), make_partition((2, 3), isr=(2, 3)))
    step = image
    for record in fence(image, ONE):
        step = step.apply([record])
        leader = only(step).leader
        assert not step.brokers[leader].is_fenced
    assert step.brokers[ONE].is_fenced
    assert only(step).isr == (TWO, THREE)
    assert step.topics["orders"].partitions[1] == image.topics["orders"].partitions[1]


def test_broker_that_is_fenced_already_changes_nothing() -> None:
    image = make_image(brokers=[make_broker(1, fenced=True)])
    assert fence(image, ONE) == ()


def test_broker_let_in_leads_what_only_it_may_lead() -> None:
    brokers = [make_broker(1, fenced=True), make_broker(2)]
    image = make_image(make_partition(isr=(), leader=-1, elr=(1,)), make_partition(isr=(2,)), brokers=brokers)
    after = image.apply(unfence(image, ONE))
    assert [partition.leader for partition in after.topics["orders"].partitions] == [ONE, TWO]


def test_broker_let_in_that_is_about_to_stop_leads_nothing() -> None:
    brokers = [make_broker(1, fenced=True, stopping=True), make_broker(2)]
    image = make_image(make_partition(isr=(), leader=-1, elr=(1,)), brokers=brokers)
    assert only(image.apply(unfence(image, ONE))).leader == -1


def test_broker_let_in_does_not_lead_what_it_may_lack() -> None:
    brokers = [make_broker(1, fenced=True), make_broker(2, fenced=True)]
    image = make_image(make_partition(isr=(), leader=-1, elr=(2,)), brokers=brokers)
    assert only(image.apply(unfence(image, ONE))).leader == -1


def test_dead_leader_with_unclean_elections_allowed_is_followed_by_anybody() -> None:
    image = make_image(make_partition(isr=(1,)), configs={"unclean.leader.election.enable": "true"})
    after = only(image.apply(fence(image, ONE)))
    assert (after.leader, after.isr, after.leader_recovery_state) == (TWO, (TWO,), 1)


def test_leaderless_partition_is_led_once_the_topic_allows_it() -> None:
    image = make_image(make_partition(isr=(), leader=-1, elr=(3,)), brokers=[make_broker(1), make_broker(2)])
    assert leaderless_may_be_led(image) == []
    allowing = image.apply(topic_configs("orders", {"unclean.leader.election.enable": "true"}))
    assert only(allowing.apply(leaderless_may_be_led(allowing))).leader == ONE


def test_several_brokers_leave_at_once() -> None:
    image = make_image(configs={"min.insync.replicas": "2"})
    after = only(image.apply(brokers_left(image, (ONE, TWO))))
    assert (after.leader, after.isr, after.eligible_leader_replicas) == (THREE, (THREE,), (ONE, TWO))


def test_forgotten_broker_is_in_sync_with_nothing_and_not_eligible() -> None:
    image = make_image(
        make_partition(), make_partition(isr=(2,), elr=(1,)), configs={"min.insync.replicas": "2"}
    )
    image = image.apply(fence(image, ONE))
    result = unregister_broker(image, UnregisterBrokerRequest(broker_id=1))
    assert result.response.error_code == ErrorCode.NONE
    after = image.apply(result.records)
    first, second = after.topics["orders"].partitions
    assert (first.isr, first.leader) == ((TWO, THREE), TWO)
    assert second.eligible_leader_replicas == ()
    assert ONE not in after.brokers
    assert ONE in first.replicas


def test_broker_that_lives_is_not_forgotten_with_what_only_it_has() -> None:
    image = make_image(make_partition((1,)))
    result = unregister_broker(image, UnregisterBrokerRequest(broker_id=1))
    assert result.records == ()
    assert result.response.error_code == ErrorCode.INVALID_REQUEST
    assert "penstock broker decommission 1" in (result.response.error_message or "")


def test_unknown_broker_cannot_be_forgotten() -> None:
    result = unregister_broker(make_image(), UnregisterBrokerRequest(broker_id=9))
    assert result.records == ()
    assert result.response.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert result.response.error_message == "Broker ID 9 is not currently registered."


def test_loss_where_the_broker_is_in_no_set_changes_nothing() -> None:
    image = make_image(make_partition(isr=(1, 2)))
    assert broker_lost(image, THREE, None) == []
