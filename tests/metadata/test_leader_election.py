import pytest
from tests.metadata.cluster import ONE, THREE, TWO, make_broker, make_image, make_partition

from penstock.metadata.image import ClusterImage
from penstock.metadata.leader_election import elect_leaders, preferred_elections
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.elect_leaders import (
    PREFERRED_ELECTION,
    UNCLEAN_ELECTION,
    ElectLeadersRequest,
    TopicPartitions,
)


def elect(
    image: ClusterImage, kind: int, *indexes: int, topic: str = "orders"
) -> tuple[list[int], ClusterImage]:
    request = ElectLeadersRequest(
        election_type=kind, topic_partitions=(TopicPartitions(topic=topic, partitions=indexes),)
    )
    result = elect_leaders(image, request)
    (outcome,) = result.response.replica_election_results
    assert outcome.topic == topic
    return [each.error_code for each in outcome.partition_result], image.apply(result.records)


def leaders(image: ClusterImage) -> list[int]:
    return [partition.leader for partition in image.topics["orders"].partitions]


def test_preferred_replicas_lead_again() -> None:
    image = make_image(make_partition(leader=2), make_partition())
    errors, after = elect(image, PREFERRED_ELECTION, 0, 1)
    assert errors == [0, ErrorCode.ELECTION_NOT_NEEDED]
    assert leaders(after) == [ONE, ONE]


@pytest.mark.parametrize(
    "image",
    [
        make_image(make_partition(isr=(2, 3))),
        make_image(make_partition(leader=2), brokers=[make_broker(1, fenced=True), make_broker(2)]),
        make_image(make_partition(leader=2), brokers=[make_broker(1, stopping=True), make_broker(2)]),
    ],
    ids=["behind", "fenced", "stopping"],
)
def test_preferred_replica_that_may_not_lead_is_not_elected(image: ClusterImage) -> None:
    assert elect(image, PREFERRED_ELECTION, 0) == ([ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE], image)


def test_unclean_election_is_held_when_asked_for_even_where_the_topic_forbids_it() -> None:
    image = make_image(make_partition(isr=(), leader=-1, elr=(1,)), brokers=[make_broker(3)])
    errors, after = elect(image, UNCLEAN_ELECTION, 0)
    assert errors == [0]
    assert leaders(after) == [THREE]
    assert after.topics["orders"].partitions[0].leader_recovery_state == 1


def test_unclean_election_needs_somebody_alive_and_nobody_leading() -> None:
    dead = make_image(make_partition(isr=(), leader=-1), brokers=[make_broker(1, fenced=True)])
    assert elect(dead, UNCLEAN_ELECTION, 0)[0] == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]
    assert elect(make_image(), UNCLEAN_ELECTION, 0)[0] == [ErrorCode.ELECTION_NOT_NEEDED]


@pytest.mark.parametrize(("topic", "index"), [("orders", 7), ("orders", -1), ("missing", 0)])
def test_partition_that_does_not_exist_is_refused(topic: str, index: int) -> None:
    errors, _ = elect(make_image(), PREFERRED_ELECTION, index, topic=topic)
    assert errors == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_all_partitions_are_told_of_only_where_something_was_needed() -> None:
    image = make_image(make_partition(), make_partition(leader=3), make_partition(isr=(2, 3)))
    result = elect_leaders(image, ElectLeadersRequest(topic_partitions=None))
    (outcome,) = result.response.replica_election_results
    assert [(each.partition_id, each.error_code) for each in outcome.partition_result] == [
        (1, 0),
        (2, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
    ]
    assert leaders(image.apply(result.records)) == [ONE, ONE, TWO]


def test_partition_asked_for_twice_is_elected_once() -> None:
    image = make_image(make_partition(leader=2))
    errors, after = elect(image, PREFERRED_ELECTION, 0, 0)
    assert errors == [0, 0]
    assert after.topics["orders"].partitions[0].leader_epoch == 5


def test_unknown_kind_of_election_is_refused_as_a_whole() -> None:
    result = elect_leaders(make_image(), ElectLeadersRequest(election_type=2))
    assert result.response.error_code == ErrorCode.INVALID_REQUEST


def test_leadership_goes_back_to_preferred_replicas_a_few_at_a_time() -> None:
    image = make_image(*[make_partition(leader=2)] * 3, make_partition(isr=(2, 3)), make_partition())
    once = image.apply(preferred_elections(image, limit=2))
    assert leaders(once) == [ONE, ONE, TWO, TWO, ONE]
    twice = once.apply(preferred_elections(once, limit=2))
    assert leaders(twice) == [ONE, ONE, ONE, TWO, ONE]
    assert preferred_elections(twice, limit=2) == ()
