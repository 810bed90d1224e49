from collections.abc import Collection

import pytest
from tests.metadata.cluster import FIVE, FOUR, ONE, THREE, TWO, directory_of, make_broker, make_image

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import RegisterBrokerRecord
from penstock.metadata.voters import AddVoter, RemoveVoter, VoterChange, plan_voters
from penstock.model.ids import NodeId
from penstock.wire.schema import replace


def cluster(count: int, **special: RegisterBrokerRecord) -> ClusterImage:
    members = {number: make_broker(number) for number in range(1, count + 1)}
    members |= {record.broker_id: record for record in special.values()}
    return make_image(brokers=list(members.values()))


def plan(
    image: ClusterImage,
    voters: Collection[NodeId],
    *,
    caught_up: Collection[NodeId] | None = None,
    leader: NodeId = ONE,
    most: int = 3,
) -> VoterChange | None:
    following = image.brokers.keys() if caught_up is None else caught_up
    return plan_voters(image, voters=voters, caught_up=list(following), leader=leader, voters_max=most)


def add(node_id: NodeId) -> AddVoter:
    return AddVoter(node_id=node_id, directory_id=directory_of(node_id))


def remove(node_id: NodeId) -> RemoveVoter:
    return RemoveVoter(node_id=node_id)


@pytest.mark.parametrize("count", [1, 2])
def test_small_cluster_has_one_voter(count: int) -> None:
    assert plan(cluster(count), [ONE]) is None


def test_three_brokers_have_three_voters_one_change_at_a_time() -> None:
    assert plan(cluster(3), [ONE]) == add(TWO)
    assert plan(cluster(3), [ONE, TWO]) == add(THREE)
    assert plan(cluster(3), [ONE, TWO, THREE]) is None
    assert plan(cluster(5), [ONE, TWO, THREE]) is None


def test_five_brokers_have_five_voters_if_that_is_wanted() -> None:
    assert plan(cluster(5), [ONE, TWO, THREE], most=5) == add(FOUR)
    assert plan(cluster(5), [ONE, TWO, THREE, FOUR], most=5) == add(FIVE)
    assert plan(cluster(4), [ONE, TWO, THREE], most=5) is None
    assert plan(cluster(9), [ONE, TWO, THREE, FOUR, FIVE], most=5) is None


def test_only_brokers_that_live_and_have_caught_up_become_voters() -> None:
    assert plan(cluster(4), [ONE], caught_up=[ONE, THREE, FOUR]) == add(THREE)
    assert plan(cluster(4), [ONE, THREE], caught_up=[ONE, THREE]) is None
    assert plan(cluster(4, two=make_broker(2, fenced=True)), [ONE]) == add(THREE)


def test_quorum_does_not_begin_to_grow_if_it_would_stay_even() -> None:
    assert plan(cluster(3), [ONE], caught_up=[ONE, TWO]) is None
    assert plan(cluster(3, three=make_broker(3, fenced=True)), [ONE]) is None
    assert plan(cluster(4), [ONE], caught_up=[ONE, TWO, FOUR]) == add(TWO)


def test_quorum_that_can_grow_no_further_becomes_odd_again() -> None:
    image = cluster(3, three=make_broker(3, fenced=True))
    assert plan(image, [ONE, TWO]) == remove(TWO)
    assert plan(image, [ONE, TWO], leader=TWO) == remove(ONE)
    image = cluster(5, five=make_broker(5, fenced=True))
    assert plan(image, [ONE, TWO, THREE, FOUR], most=5) == remove(FOUR)


def test_quorum_stays_even_while_one_of_it_is_dead() -> None:
    image = cluster(4, two=make_broker(2, fenced=True), four=make_broker(4, fenced=True))
    assert plan(image, [ONE, TWO], caught_up=[ONE]) is None


def test_broker_in_another_rack_is_preferred() -> None:
    members = [make_broker(1, rack="a"), make_broker(2, rack="a"), make_broker(3, rack="b")]
    assert plan(make_image(brokers=members), [ONE]) == add(THREE)


def test_id_without_a_process_makes_no_cluster_larger() -> None:
    joined = replace(make_broker(3, fenced=True), incarnation_id=bytes(16))
    assert plan(cluster(2, three=joined), [ONE]) is None


def test_voter_that_is_being_emptied_is_replaced_first_and_removed_then() -> None:
    image = cluster(4, two=make_broker(2, cordoned=True))
    assert plan(image, [ONE, TWO, THREE]) == add(FOUR)
    assert plan(image, [ONE, TWO, THREE, FOUR]) == remove(TWO)


def test_voter_that_is_forgotten_is_removed() -> None:
    assert plan(cluster(3), [ONE, TWO, THREE, NodeId(9)]) == remove(NodeId(9))


def test_leader_that_is_being_emptied_goes_last() -> None:
    image = cluster(5, one=make_broker(1, cordoned=True), two=make_broker(2, cordoned=True))
    assert plan(image, [ONE, TWO, THREE, FOUR, FIVE]) == remove(TWO)
    assert plan(image, [ONE, THREE, FOUR, FIVE]) == remove(ONE)


def test_dead_voter_stays_since_it_may_come_back() -> None:
    assert plan(cluster(4, two=make_broker(2, fenced=True)), [ONE, TWO, THREE]) is None


def test_cluster_that_shrinks_below_three_goes_back_to_one_voter() -> None:
    image = cluster(2)
    assert plan(image, [ONE, TWO, THREE]) == remove(THREE)
    assert plan(image, [ONE, TWO]) == remove(TWO)
    assert plan(image, [ONE, TWO], leader=TWO) == remove(ONE)
    assert plan(image, [ONE]) is None


def test_dead_one_is_the_first_to_go_when_there_are_too_many() -> None:
    image = cluster(2, one=make_broker(1, fenced=True))
    assert plan(image, [ONE, TWO], leader=TWO) == remove(ONE)


@pytest.mark.parametrize("leader", [ONE, FOUR])
@pytest.mark.parametrize("away", [{"fenced": True}, {"in_controlled_shutdown": True}])
def test_nobody_is_removed_on_whom_those_who_are_left_depend(leader: NodeId, away: dict[str, bool]) -> None:
    image = cluster(4, three=replace(make_broker(3), **away), four=make_broker(4, cordoned=True))
    assert plan(image, [ONE, THREE, FOUR], caught_up=[], leader=leader) is None


def test_dead_voter_goes_before_a_living_one_where_both_are_to_go() -> None:
    image = cluster(3, one=make_broker(1, cordoned=True), three=make_broker(3, fenced=True, cordoned=True))
    assert plan(image, [ONE, TWO, THREE], leader=TWO) == remove(THREE)
    image = cluster(3, two=make_broker(2, fenced=True), three=make_broker(3, cordoned=True))
    assert plan(image, [ONE, TWO, THREE]) == remove(TWO)


def test_new_leader_counts_itself_as_living_before_it_is_let_in() -> None:
    image = cluster(3, one=make_broker(1, fenced=True), three=make_broker(3, cordoned=True))
    assert plan(image, [ONE, TWO, THREE]) == remove(THREE)


def test_last_voter_is_never_removed() -> None:
    image = cluster(1, one=make_broker(1, cordoned=True))
    assert plan(image, [ONE]) is None
