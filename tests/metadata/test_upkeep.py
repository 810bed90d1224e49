from tests.metadata.cluster import (
    ONE,
    make_broker,
    make_image,
    make_partition,
    only,
    topic_configs,
    topic_records,
)

from penstock.metadata.alter_partition import alter_partition
from penstock.metadata.decommission import decommission_broker
from penstock.metadata.image import ClusterImage
from penstock.metadata.leadership import partitions_of
from penstock.metadata.upkeep import UpkeepRules, upkeep
from penstock.model.ids import TopicId
from penstock.model.names import OFFSETS_TOPIC
from penstock.wire.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from penstock.wire.messages.decommission_broker import DecommissionBrokerRequest

OFFSETS = TopicId(b"offsets" + bytes(9))
RULES = UpkeepRules()


def kept(image: ClusterImage, rules: UpkeepRules = RULES) -> ClusterImage:
    return image.apply(upkeep(image, rules, voters=()))


def catch_up(image: ClusterImage) -> ClusterImage:
    """Every replica gets in sync, as their leaders then tell the controller."""
    for place in list(partitions_of(image)):
        partition = place.partition
        data = PartitionData(
            partition_index=place.partition_index,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr_with_epochs=tuple(BrokerState(broker_id=node_id) for node_id in partition.replicas),
        )
        request = AlterPartitionRequest(
            broker_id=partition.leader,
            broker_epoch=image.brokers[partition.leader].epoch,
            topics=(TopicData(topic_id=place.topic.topic_id, partitions=(data,)),),
        )
        image = image.apply(alter_partition(image, request).records)
    return image


def test_cluster_that_is_as_it_should_be_needs_nothing() -> None:
    assert upkeep(make_image(), RULES, voters=()) == ()


def test_leadership_goes_back_only_if_that_is_wanted() -> None:
    image = make_image(make_partition(leader=2))
    assert only(kept(image)).leader == ONE
    assert only(kept(image, UpkeepRules(gives_leadership_back=False))).leader == 2


def test_leaderless_partition_is_led_when_that_has_become_possible() -> None:
    image = make_image(make_partition(isr=(), leader=-1), configs={"min.insync.replicas": "2"})
    assert only(kept(image)).leader == -1
    allowing = image.apply(topic_configs("orders", {"unclean.leader.election.enable": "true"}))
    assert only(kept(allowing)).leader == ONE


def test_internal_topic_grows_and_then_rests() -> None:
    image = make_image().apply(topic_records(OFFSETS_TOPIC, OFFSETS, [make_partition((1,))] * 3))
    growing = kept(image, UpkeepRules(moves_max=2))
    assert [len(each.replicas) for each in growing.topics[OFFSETS_TOPIC].partitions] == [3, 3, 1]
    grown = catch_up(kept(catch_up(growing)))
    assert [len(each.isr) for each in grown.topics[OFFSETS_TOPIC].partitions] == [3, 3, 3]
    assert upkeep(grown, RULES, voters=()) == ()


def test_broker_is_emptied_step_by_step_and_forgotten_in_the_end() -> None:
    partitions = [make_partition((1, 2, 3)), make_partition((2, 3, 4)), make_partition((4, 1, 2))]
    image = make_image(*partitions, brokers=[make_broker(number) for number in range(1, 6)])
    request = DecommissionBrokerRequest(broker_id=1)
    image = image.apply(decommission_broker(image, request, voters=()).records)
    for _ in range(4):
        image = catch_up(kept(image, UpkeepRules(moves_max=1)))
    assert sorted(image.brokers) == [2, 3, 4, 5]
    for place in partitions_of(image):
        assert ONE not in place.partition.replicas
        assert len(place.partition.isr) == 3
    assert upkeep(image, RULES, voters=()) == ()
