from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metadata.cluster import (
    FOUR,
    ONE,
    ORDERS,
    THREE,
    TWO,
    directory_of,
    make_image,
    make_partition,
    only,
)

from penstock.metadata.partition_change import (
    RECOVERED,
    RECOVERING,
    Circumstances,
    Election,
    Wanted,
    as_it_is,
    change_partition,
)
from penstock.metadata.records import LEADER_UNCHANGED, PartitionChangeRecord, PartitionRecord
from penstock.metadata.replication_rules import TopicRules
from penstock.metadata.topic_image import PartitionImage, changed_partition
from penstock.model.ids import NodeId

ALL = (ONE, TWO, THREE)


def circumstances(
    *,
    minimum: int = 1,
    alive: Collection[NodeId] = ALL,
    lost: Collection[NodeId] = (),
    election: Election = Election.ONLINE,
    accepts_loss: bool = False,
) -> Circumstances:
    return Circumstances(
        rules=TopicRules(min_insync_replicas=minimum, accepts_loss=accepts_loss),
        is_acceptable=lambda node_id: node_id in alive and node_id not in lost,
        directory_of=directory_of,
        lost=frozenset(lost),
        election=election,
    )


def partition_of(record: PartitionRecord) -> PartitionImage:
    return only(make_image(record))


def wanted(partition: PartitionImage, **changes: object) -> Wanted:
    values = {name: getattr(as_it_is(partition), name) for name in Wanted.__slots__}
    return Wanted(**values | changes)


def decide(
    partition: PartitionImage, target: Wanted, given_: Circumstances
) -> tuple[PartitionChangeRecord | None, PartitionImage]:
    record = change_partition(partition, target, given_, topic_id=ORDERS, index=0)
    return record, partition if record is None else changed_partition(partition, record)


def test_partition_with_a_living_leader_stays_as_it_is() -> None:
    partition = partition_of(make_partition())
    assert decide(partition, as_it_is(partition), circumstances())[0] is None


def test_next_in_sync_replica_leads_when_the_leader_is_gone() -> None:
    partition = partition_of(make_partition((1, 2, 3), isr=(1, 3)))
    _, after = decide(partition, wanted(partition, isr=(THREE,)), circumstances(alive=(TWO, THREE)))
    assert (after.leader, after.isr, after.leader_epoch) == (THREE, (THREE,), 5)
    assert after.eligible_leader_replicas == ()


def test_replica_outside_the_isr_does_not_lead() -> None:
    partition = partition_of(make_partition(isr=(1,)))
    _, after = decide(partition, wanted(partition, isr=()), circumstances(alive=(TWO, THREE)))
    assert (after.leader, after.isr) == (-1, ())
    assert after.eligible_leader_replicas == (ONE,)
    assert after.last_known_elr == (ONE,)


def test_member_that_leaves_a_set_which_becomes_too_small_stays_eligible() -> None:
    partition = partition_of(make_partition())
    _, after = decide(partition, wanted(partition, isr=(ONE, TWO)), circumstances(minimum=2))
    assert after.eligible_leader_replicas == ()
    record, after = decide(after, wanted(after, isr=(ONE,)), circumstances(minimum=2))
    assert after.eligible_leader_replicas == (TWO,)
    assert record is not None
    assert record.leader == LEADER_UNCHANGED


def test_eligible_replica_leads_when_nobody_is_in_sync() -> None:
    partition = partition_of(make_partition(isr=(1,), elr=(2,)))
    _, after = decide(partition, wanted(partition, isr=()), circumstances(minimum=2, alive=(TWO, THREE)))
    assert (after.leader, after.isr, after.eligible_leader_replicas) == (TWO, (TWO,), (ONE,))
    assert after.leader_recovery_state == RECOVERED


def test_eligible_replica_does_not_lead_while_somebody_is_in_sync() -> None:
    partition = partition_of(make_partition(isr=(1,), elr=(2,)))
    _, after = decide(partition, as_it_is(partition), circumstances(minimum=2, alive=(TWO, THREE)))
    assert after.leader == -1
    assert after.eligible_leader_replicas == (TWO,)


def test_leader_that_may_commit_alone_ends_the_eligibility_of_others() -> None:
    partition = partition_of(make_partition(isr=(), leader=-1, elr=(1, 2)))
    _, after = decide(partition, as_it_is(partition), circumstances())
    assert (after.leader, after.isr, after.eligible_leader_replicas) == (ONE, (ONE,), ())


def test_set_that_is_large_enough_again_needs_nobody_eligible() -> None:
    partition = partition_of(make_partition(isr=(1,), elr=(2,)))
    _, after = decide(partition, wanted(partition, isr=(ONE, THREE)), circumstances(minimum=2))
    assert after.eligible_leader_replicas == ()


def test_replica_that_lost_data_is_neither_in_sync_nor_eligible() -> None:
    partition = partition_of(make_partition(isr=(1,), elr=(2, 3)))
    _, after = decide(partition, wanted(partition, isr=(ONE,)), circumstances(minimum=3, lost=(TWO,)))
    assert after.eligible_leader_replicas == (THREE,)


def test_last_replica_standing_that_lost_data_leads_no_more() -> None:
    partition = partition_of(make_partition(isr=(1,), leader=1))
    _, after = decide(partition, wanted(partition, isr=()), circumstances(lost=(ONE,)))
    assert (after.leader, after.isr, after.eligible_leader_replicas) == (-1, (), ())
    assert after.last_known_elr == (ONE,)
    # Nor does anybody later, though all are alive: committed records may be gone.
    assert decide(after, as_it_is(after), circumstances())[0] is None


def test_last_known_leader_leads_again_where_the_topic_accepts_loss() -> None:
    partition = partition_of(make_partition(isr=(), leader=-1, last=(2,)))
    _, after = decide(partition, as_it_is(partition), circumstances(accepts_loss=True))
    assert (after.leader, after.isr, after.leader_recovery_state) == (TWO, (TWO,), RECOVERING)
    assert after.last_known_elr == ()


def test_last_known_leader_that_is_no_replica_any_more_does_not_lead() -> None:
    partition = partition_of(make_partition((1, 3), isr=(), leader=-1, last=(2,)))
    assert decide(partition, as_it_is(partition), circumstances(accepts_loss=True))[0] is None


def test_first_known_leader_is_remembered_while_nobody_leads() -> None:
    partition = partition_of(make_partition(isr=(), leader=-1, last=(2,), elr=(1, 3)))
    _, after = decide(partition, as_it_is(partition), circumstances(alive=(), lost=(ONE,)))
    assert after.last_known_elr == (TWO,)
    assert after.eligible_leader_replicas == (THREE,)


def test_unclean_election_takes_anybody_and_says_so() -> None:
    partition = partition_of(make_partition(isr=(1,), elr=(2,)))
    _, after = decide(
        partition,
        wanted(partition, isr=()),
        circumstances(minimum=2, alive=(THREE,), election=Election.UNCLEAN),
    )
    assert (after.leader, after.isr, after.eligible_leader_replicas) == (THREE, (THREE,), ())
    assert after.leader_recovery_state == RECOVERING


def test_unclean_election_prefers_who_led_last_and_whoever_is_clean() -> None:
    unclean = circumstances(election=Election.UNCLEAN)
    led = partition_of(make_partition(isr=(), leader=-1, last=(3,)))
    assert decide(led, as_it_is(led), unclean)[1].leader == THREE
    eligible = partition_of(make_partition(isr=(), leader=-1, elr=(3,)))
    _, after = decide(eligible, as_it_is(eligible), unclean)
    assert (after.leader, after.leader_recovery_state) == (THREE, RECOVERED)


@pytest.mark.parametrize("isr", [(), (2,)])
def test_unclean_election_prefers_who_was_there_to_who_is_only_being_added(isr: tuple[int, ...]) -> None:
    moving = partition_of(make_partition((4, 1, 2), isr=isr, leader=-1, adding=(4,), removing=(2,)))
    _, after = decide(moving, as_it_is(moving), circumstances(election=Election.UNCLEAN, alive=(ONE, FOUR)))
    assert (after.leader, after.isr) == (ONE, (ONE,))
    _, after = decide(moving, as_it_is(moving), circumstances(election=Election.UNCLEAN, alive=(FOUR,)))
    assert after.leader == FOUR


def test_unclean_election_without_anybody_alive_changes_nothing() -> None:
    partition = partition_of(make_partition(isr=(), leader=-1, last=(3,)))
    unclean = circumstances(election=Election.UNCLEAN, alive=())
    assert decide(partition, as_it_is(partition), unclean)[0] is None


def test_preferred_election_moves_the_lead_only_to_the_first_replica() -> None:
    preferred = circumstances(election=Election.PREFERRED)
    partition = partition_of(make_partition(leader=3))
    assert decide(partition, as_it_is(partition), preferred)[1].leader == ONE
    behind = partition_of(make_partition(isr=(2, 3), leader=3))
    assert decide(behind, as_it_is(behind), preferred)[0] is None


def test_added_replicas_do_not_raise_the_minimum_until_they_are_in_sync() -> None:
    partition = partition_of(make_partition((1,)))
    _, after = decide(
        partition, wanted(partition, replicas=ALL, adding=(TWO, THREE)), circumstances(minimum=2)
    )
    assert after.replicas == ALL
    assert after.eligible_leader_replicas == ()
    assert after.leader_epoch == partition.leader_epoch


def test_move_is_completed_by_the_change_that_brings_the_last_replica_in_sync() -> None:
    partition = partition_of(make_partition((4, 1, 2), isr=(1, 2), leader=1, adding=(4,), removing=(1,)))
    _, after = decide(
        partition, wanted(partition, isr=(ONE, TWO, FOUR)), circumstances(alive=(ONE, TWO, FOUR))
    )
    assert after.replicas == (FOUR, TWO)
    assert set(after.isr) == {TWO, FOUR}
    assert (after.adding_replicas, after.removing_replicas) == ((), ())
    assert after.leader == FOUR
    assert after.directories == (directory_of(4), directory_of(2))


def test_replicas_that_go_end_the_leader_epoch_even_if_the_leader_stays() -> None:
    partition = partition_of(make_partition((1, 2, 3), removing=(3,)))
    record, after = decide(partition, as_it_is(partition), circumstances())
    assert record is not None
    assert record.leader == ONE
    assert after.leader_epoch == partition.leader_epoch + 1


@st.composite
def situations(draw: st.DrawFn) -> tuple[PartitionImage, Wanted, Circumstances]:
    nodes = st.sampled_from([NodeId(number) for number in range(1, 6)])
    subset = st.lists(nodes, unique=True).map(tuple)
    replicas = draw(st.lists(nodes, unique=True, min_size=1).map(tuple))
    isr = tuple(each for each in replicas if draw(st.booleans()))
    minimum = draw(st.integers(1, 3))
    others = [each for each in replicas if each not in isr]
    too_small = len(isr) < min(minimum, len(replicas))
    elr = tuple(each for each in others if too_small and draw(st.booleans()))
    leader = draw(st.sampled_from([*isr, NodeId(-1)]))
    partition = partition_of(make_partition(replicas, isr=isr, leader=leader, elr=elr))
    target_replicas = draw(st.lists(nodes, unique=True, min_size=1).map(tuple))
    target = wanted(
        partition,
        isr=tuple(each for each in draw(subset) if each in target_replicas),
        replicas=target_replicas,
    )
    lost = draw(subset)
    target = wanted(partition, isr=tuple(e for e in target.isr if e not in lost), replicas=target.replicas)
    given_ = circumstances(
        minimum=minimum,
        alive=draw(subset),
        lost=lost,
        election=draw(st.sampled_from(list(Election))),
        accepts_loss=draw(st.booleans()),
    )
    return partition, target, given_


@settings(deadline=None)
@given(situations())
def test_every_change_keeps_its_promises(situation: tuple[PartitionImage, Wanted, Circumstances]) -> None:
    partition, target, given_ = situation
    _, after = decide(partition, target, given_)
    assert after.leader == -1 or after.leader in after.isr
    assert set(after.isr).isdisjoint(after.eligible_leader_replicas)
    assert set(after.isr) | set(after.eligible_leader_replicas) <= set(after.replicas)
    if len(after.isr) >= given_.rules.min_isr(len(after.replicas)):
        assert after.eligible_leader_replicas == ()
    assert given_.lost.isdisjoint(after.eligible_leader_replicas)
    if after.leader != partition.leader or set(partition.replicas) - set(after.replicas):
        assert after.leader_epoch == partition.leader_epoch + 1
    if after.leader >= 0 and after.leader != partition.leader:
        assert given_.is_acceptable(after.leader)
        clean = set(target.isr) | set(partition.isr) | set(partition.eligible_leader_replicas)
        assert after.leader in clean or after.leader_recovery_state == RECOVERING


@pytest.mark.parametrize("election", list(Election))
def test_nobody_alive_means_nobody_leads(election: Election) -> None:
    partition = partition_of(make_partition())
    _, after = decide(partition, wanted(partition, isr=()), circumstances(alive=(), election=election))
    assert after.leader == -1
    assert after.eligible_leader_replicas == ALL
