"""Plans for a cluster that grows, shrinks and is out of balance."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metadata.cluster import (
    FIVE,
    FOUR,
    ONE,
    THREE,
    TWO,
    make_broker,
    make_image,
    make_partition,
    only,
    topic_records,
)

from penstock.metadata.broker_loads import broker_loads, usable_brokers
from penstock.metadata.decommission import (
    decommission_broker,
    finish_decommissions,
    plan_decommissions,
    replicas_left,
)
from penstock.metadata.growth import plan_growth
from penstock.metadata.image import ClusterImage
from penstock.metadata.placement import Placement, place
from penstock.metadata.rebalancing import plan_evacuation, plan_rebalance
from penstock.metadata.records import PartitionRecord, RegisterBrokerRecord
from penstock.metadata.targets import Target, begin_moves
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId, TopicId
from penstock.model.names import OFFSETS_TOPIC
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest

OFFSETS = TopicId(b"offsets" + bytes(9))


def with_offsets(
    partitions: Sequence[PartitionRecord], brokers: Sequence[RegisterBrokerRecord]
) -> ClusterImage:
    image = make_image(brokers=brokers)
    return image.apply(topic_records(OFFSETS_TOPIC, OFFSETS, partitions))


def brokers(count: int) -> list[RegisterBrokerRecord]:
    return [make_broker(number) for number in range(1, count + 1)]


def test_internal_topic_grows_as_far_as_there_are_brokers() -> None:
    alone = [make_partition((1,))] * 4
    assert plan_growth(with_offsets(alone, brokers(1)), limit=9) == ()
    assert {len(each.replicas) for each in plan_growth(with_offsets(alone, brokers(2)), limit=9)} == {2}
    targets = plan_growth(with_offsets(alone, brokers(5)), limit=9)
    assert len(targets) == 4
    assert {len(each.replicas) for each in targets} == {3}
    assert {each.replicas[0] for each in targets} == {ONE}
    spread = Counter(node_id for each in targets for node_id in each.replicas[1:])
    assert set(spread.values()) == {2}


def test_growth_keeps_to_a_few_moves_at_once_and_leaves_other_topics_alone() -> None:
    image = with_offsets([make_partition((1,))] * 4, brokers(3))
    targets = plan_growth(image, limit=3)
    assert [each.partition for each in targets] == [0, 1, 2]
    assert {each.topic for each in targets} == {OFFSETS_TOPIC}
    moving = image.apply(begin_moves(image, targets))
    assert plan_growth(moving, limit=3) == ()
    assert [each.partition for each in plan_growth(moving, limit=4)] == [3]


def test_growth_does_not_touch_what_is_large_enough() -> None:
    assert plan_growth(with_offsets([make_partition((1, 2, 3))], brokers(5)), limit=9) == ()


def test_internal_topic_with_a_replica_that_is_away_grows_on_those_who_are_there() -> None:
    away = make_broker(3, fenced=True)
    image = with_offsets([make_partition((3, 1), isr=(1,), leader=1)], [*brokers(2), away])
    (target,) = plan_growth(image, limit=9)
    assert target.replicas == (THREE, ONE, TWO)
    nobody_else = with_offsets([make_partition((3, 1), isr=(1,), leader=1)], [*brokers(1), away])
    assert plan_growth(nobody_else, limit=9) == ()


def test_internal_topic_grows_as_far_as_its_setting_says() -> None:
    image = with_offsets([make_partition((1,))], brokers(5))
    (target,) = plan_growth(image, limit=9, replication_factors={OFFSETS_TOPIC: 2})
    assert len(target.replicas) == 2
    assert plan_growth(image, limit=9, replication_factors={OFFSETS_TOPIC: 1}) == ()


def test_growing_partition_stays_writable() -> None:
    image = make_image(make_partition((1,)), configs={"min.insync.replicas": "2"})
    target = Target(topic="orders", partition=0, replicas=(ONE, TWO, THREE))
    partition = only(image.apply(begin_moves(image, [target])))
    assert partition.adding_replicas == (TWO, THREE)
    assert partition.eligible_leader_replicas == ()


def decommission(
    image: ClusterImage, node_id: int, *, cancel: bool = False, voters: tuple[NodeId, ...] = ()
) -> tuple[int, ClusterImage]:
    request = DecommissionBrokerRequest(broker_id=node_id, is_cancelled=cancel)
    result = decommission_broker(image, request, voters=voters)
    return result.response.error_code, image.apply(result.records)


def test_broker_that_is_being_emptied_gets_nothing_new_and_loses_what_it_has() -> None:
    image = make_image(make_partition(), make_partition((2, 3)), brokers=brokers(4))
    error, emptying = decommission(image, 1)
    assert error == 0
    assert usable_brokers(emptying) == (TWO, THREE, FOUR)
    placed = place(emptying.brokers.values(), Placement(partitions=9, replication_factor=3, start=0))
    assert ONE not in {node_id for replicas in placed for node_id in replicas}
    assert plan_decommissions(emptying, limit=9) == (
        Target(topic="orders", partition=0, replicas=(FOUR, TWO, THREE)),
    )


def test_emptied_broker_is_forgotten_unless_it_still_votes() -> None:
    image = make_image(make_partition((2, 3)), brokers=brokers(3))
    _, emptying = decommission(image, 1)
    assert finish_decommissions(emptying, voters=(ONE,)) == ()
    after = emptying.apply(finish_decommissions(emptying, voters=()))
    assert sorted(after.brokers) == [2, 3]
    full = decommission(make_image(brokers=brokers(4)), 1)[1]
    assert finish_decommissions(full, voters=()) == ()


def test_decommission_tells_how_much_is_left_however_often_it_is_asked() -> None:
    image = make_image(brokers=brokers(4))
    _, emptying = decommission(image, 1)
    request = DecommissionBrokerRequest(broker_id=1)
    again = decommission_broker(emptying, request, voters=(ONE,))
    assert again.records == ()
    assert (again.response.replicas_left, again.response.is_voter) == (1, True)
    assert replicas_left(emptying, FOUR) == 0


def test_decommission_can_be_taken_back() -> None:
    _, emptying = decommission(make_image(brokers=brokers(4)), 1)
    error, back = decommission(emptying, 1, cancel=True)
    assert error == 0
    assert usable_brokers(back) == (ONE, TWO, THREE, FOUR)


def test_who_only_asks_about_a_decommission_changes_nothing() -> None:
    image = make_image(brokers=brokers(3))
    question = DecommissionBrokerRequest(broker_id=1, is_question=True)
    resting = decommission_broker(image, question, voters=())
    assert (resting.records, resting.response.error_code, resting.response.is_draining) == ((), 0, False)
    _, emptying = decommission(make_image(brokers=brokers(4)), 1)
    moving = decommission_broker(emptying, question, voters=())
    assert (moving.records, moving.response.is_draining, moving.response.replicas_left) == ((), True, 1)


def test_decommission_without_room_for_the_replicas_is_refused() -> None:
    error, after = decommission(make_image(brokers=brokers(3)), 1)
    assert error == ErrorCode.INVALID_REPLICATION_FACTOR
    assert not after.brokers[ONE].is_cordoned
    assert (
        decommission(make_image(make_partition((1,)), brokers=brokers(1)), 1)[0] == ErrorCode.POLICY_VIOLATION
    )
    assert decommission(make_image(), 9)[0] == ErrorCode.BROKER_ID_NOT_REGISTERED


def test_internal_topic_gets_smaller_when_there_are_not_enough_brokers_left() -> None:
    image = make_image(make_partition((2, 3)), brokers=brokers(3))
    image = image.apply(topic_records(OFFSETS_TOPIC, OFFSETS, [make_partition((1, 2, 3))]))
    _, emptying = decommission(image, 1)
    assert plan_decommissions(emptying, limit=9) == (
        Target(topic=OFFSETS_TOPIC, partition=0, replicas=(TWO, THREE)),
    )


def test_replicas_of_a_forgotten_broker_move_too_a_few_at_once() -> None:
    image = make_image(*[make_partition((1, 9), isr=(1,))] * 3, brokers=brokers(2))
    targets = plan_decommissions(image, limit=2)
    assert [each.replicas for each in targets] == [(ONE, TWO)] * 2
    moving = image.apply(begin_moves(image, targets))
    assert [each.partition for each in plan_decommissions(moving, limit=3)] == [2]


def test_partitions_that_nobody_leads_do_not_keep_the_others_from_moving() -> None:
    gone = make_broker(4, fenced=True, cordoned=True)
    alone = [make_partition((4,), isr=(), elr=(4,))] * 3
    image = make_image(*alone, make_partition((1, 4), isr=(1,)), brokers=[*brokers(3), gone])
    targets = plan_decommissions(image, limit=2)
    assert [each.partition for each in targets] == [0, 1, 3]
    waiting = image.apply(begin_moves(image, targets))
    assert plan_decommissions(waiting, limit=2) == ()
    grown = waiting.apply(topic_records(OFFSETS_TOPIC, OFFSETS, [make_partition((1,))] * 3))
    assert [each.partition for each in plan_growth(grown, limit=2)] == [0]


def test_moves_to_a_broker_that_is_gone_are_led_elsewhere_however_many_there_are() -> None:
    moving = make_partition((4, 1), isr=(1,), adding=(4,), removing=(1,))
    emptied = make_broker(1, cordoned=True)
    image = make_image(*[moving] * 3, brokers=[emptied, make_broker(2), make_broker(4, fenced=True)])
    assert plan_decommissions(image, limit=2) == ()
    _, emptying = decommission(image, 4)
    targets = plan_decommissions(emptying, limit=2)
    assert [each.replicas for each in targets] == [(TWO,)] * 3


def test_replica_that_nobody_else_can_hold_stays() -> None:
    image = make_image(make_partition((1, 2, 9), isr=(1, 2)), brokers=brokers(2))
    assert plan_decommissions(image, limit=9) == ()


def test_replacement_stands_in_the_rack_that_becomes_free() -> None:
    members = [make_broker(number, rack="ab"[number % 2]) for number in (1, 2, 3, 4)]
    image = make_image(make_partition((1, 2)), brokers=members)
    _, emptying = decommission(image, 1)
    (target,) = plan_decommissions(emptying, limit=9)
    assert target.replicas == (THREE, TWO)


def test_balanced_cluster_needs_no_plan() -> None:
    image = make_image(make_partition((1, 2)), make_partition((2, 3)), make_partition((3, 1)))
    assert plan_rebalance(image) == ()


def test_plan_fills_new_brokers_and_moves_no_more_than_it_must() -> None:
    image = make_image(*[make_partition((1, 2, 3))] * 10, brokers=brokers(5))
    targets = plan_rebalance(image)
    after = {each.partition: each.replicas for each in targets}
    final = [after.get(index, (ONE, TWO, THREE)) for index in range(10)]
    assert Counter(node_id for replicas in final for node_id in replicas) == dict.fromkeys(range(1, 6), 6)
    moved = sum(len(set(replicas) - {ONE, TWO, THREE}) for replicas in final)
    assert moved == 12
    leaders = Counter(replicas[0] for replicas in final)
    assert max(leaders.values()) <= 3


def test_plan_for_some_brokers_uses_only_those() -> None:
    image = make_image(*[make_partition((1, 2))] * 4, brokers=brokers(4))
    targets = plan_rebalance(image, brokers=(THREE, FOUR))
    assert {frozenset(each.replicas) for each in targets} == {frozenset({THREE, FOUR})}
    assert len(targets) == 4


def test_plan_for_some_topics_leaves_the_others() -> None:
    image = make_image(*[make_partition((1,))] * 4, brokers=brokers(2))
    image = image.apply(topic_records("other", TopicId(b"o" * 16), [make_partition((1,))] * 4))
    assert {each.topic for each in plan_rebalance(image, topics={"other"})} == {"other"}


def test_plan_leaves_what_is_moving_already() -> None:
    image = make_image(*[make_partition((2, 1), adding=(2,), removing=(1,))] * 4, brokers=brokers(4))
    assert plan_rebalance(image) == ()


def test_plan_separates_replicas_that_share_a_rack() -> None:
    members = [make_broker(1, rack="a"), make_broker(2, rack="a"), make_broker(3, rack="b")]
    (target,) = plan_rebalance(make_image(make_partition((1, 2)), brokers=members))
    assert set(target.replicas) == {ONE, THREE}


def test_evacuation_moves_only_what_must_move() -> None:
    image = make_image(*[make_partition((1,))] * 4, make_partition((9,)), brokers=brokers(2))
    assert plan_evacuation(image) == (Target(topic="orders", partition=4, replicas=(TWO,)),)


def test_evacuation_to_too_few_brokers_leaves_what_nobody_can_take() -> None:
    image = make_image(make_partition((1, 2, 3)))
    assert plan_evacuation(image, brokers=(ONE, TWO)) == ()


def test_more_replicas_stand_behind_the_others_in_other_racks() -> None:
    members = [make_broker(number, rack="ab"[number % 2]) for number in (1, 2, 3)]
    image = make_image(make_partition((1,)), make_partition((3,)), brokers=members)
    targets = plan_evacuation(image, replication_factor=2)
    assert [each.replicas for each in targets] == [(ONE, TWO), (THREE, TWO)]


def test_fewer_replicas_lose_the_unusable_then_the_rack_that_is_shared_then_the_fullest() -> None:
    members = [make_broker(1, rack="a"), make_broker(2, rack="b"), make_broker(3, rack="a"), make_broker(4)]
    image = make_image(
        make_partition((1, 9, 2, 3, 4)), make_partition((1, 2, 4)), make_partition((2,)), brokers=members
    )
    after = {each.partition: each.replicas for each in plan_evacuation(image, replication_factor=2)}
    assert after == {0: (ONE, FOUR), 1: (ONE, TWO), 2: (TWO, THREE)}


@pytest.mark.parametrize("factor", [0, 4])
def test_replication_factor_that_is_impossible_is_refused(factor: int) -> None:
    with pytest.raises(ApiError) as error:
        plan_rebalance(make_image(), replication_factor=factor)
    assert error.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize("chosen", [(), (NodeId(9),)])
def test_plan_without_brokers_is_refused(chosen: tuple[NodeId, ...]) -> None:
    with pytest.raises(ApiError) as error:
        plan_rebalance(make_image(), brokers=chosen)
    assert error.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_best_broker_is_in_another_rack_then_the_emptiest() -> None:
    members = [make_broker(number, rack="ab"[number % 2]) for number in range(1, 6)]
    loads = broker_loads(make_image(make_partition((2, 3)), brokers=members))
    assert loads.counts == {1: 0, 2: 1, 3: 1, 4: 0, 5: 0}
    assert loads.best((TWO,)) == ONE
    assert loads.best((ONE,)) == FOUR
    assert loads.best((ONE, TWO)) == FOUR
    assert loads.best((ONE, TWO, THREE, FOUR, FIVE)) is None


@st.composite
def clusters(draw: st.DrawFn) -> ClusterImage:
    count = draw(st.integers(1, 6))
    members = [
        make_broker(number, rack=draw(st.sampled_from(["a", "b", "c", None])))
        for number in range(1, count + 1)
    ]
    replication = draw(st.integers(1, count))
    partitions = draw(
        st.lists(
            st.permutations(range(1, count + 1)).map(lambda order: make_partition(order[:replication])),
            min_size=1,
            max_size=12,
        )
    )
    return make_image(*partitions, brokers=members)


def racks_shared(image: ClusterImage, replicas: Sequence[NodeId]) -> int:
    return len(replicas) - len({image.brokers[node_id].rack for node_id in replicas})


@settings(deadline=None)
@given(clusters())
def test_every_plan_keeps_sizes_spreads_no_worse_and_is_final(image: ClusterImage) -> None:
    targets = plan_rebalance(image)
    before = image.topics["orders"].partitions
    for each in targets:
        old = before[each.partition].replicas
        assert len(set(each.replicas)) == len(old)
        assert racks_shared(image, each.replicas) <= racks_shared(image, old)
    after = image.apply(begin_moves(image, targets))
    loads = broker_loads(after).counts
    assert sum(loads.values()) == sum(broker_loads(image).counts.values())
    if len({broker.rack for broker in image.brokers.values()}) == 1:
        assert max(loads.values()) - min(loads.values()) <= 1
