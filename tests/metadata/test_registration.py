from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    BrokerEndpoint,
    FeatureLevelRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from penstock.metadata.registration import FEATURES, register_broker
from penstock.metadata.result import Result
from penstock.model.ids import NodeId, TopicId

ENDPOINTS = (BrokerEndpoint(name="PLAINTEXT", host="h", port=9092),)


def register(image: ClusterImage, *, has_kept_everything: bool = True) -> Result[int]:
    return register_broker(
        image,
        node_id=NodeId(1),
        incarnation_id=b"i" * 16,
        endpoints=ENDPOINTS,
        rack="r",
        directory_id=b"d" * 16,
        has_kept_everything=has_kept_everything,
    )


def test_first_registration_brings_the_features_along() -> None:
    result = register(ClusterImage())
    features = tuple(FeatureLevelRecord(name=name, feature_level=level) for name, level in FEATURES.items())
    assert result.response == 0
    assert result.records == (
        *features,
        RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=b"i" * 16,
            broker_epoch=0,
            end_points=ENDPOINTS,
            rack="r",
            fenced=False,
            log_dirs=(b"d" * 16,),
        ),
    )


def test_every_registration_has_a_larger_epoch() -> None:
    image = ClusterImage().apply(register(ClusterImage()).records)
    again = register(image)
    assert again.response == 1
    assert len(again.records) == 1
    assert image.apply(again.records).brokers[NodeId(1)].epoch == 1


def test_broker_that_may_have_lost_something_leads_in_a_new_epoch() -> None:
    topic_id = TopicId(b"t" * 16)
    partitions = [
        PartitionRecord(partition_id=0, topic_id=topic_id, replicas=(1,), isr=(1,), leader=1, leader_epoch=4),
        PartitionRecord(partition_id=1, topic_id=topic_id, replicas=(2,), isr=(2,), leader=2, leader_epoch=4),
    ]
    image = ClusterImage().apply([TopicRecord(name="orders", topic_id=topic_id), *partitions])
    after = image.apply(register(image, has_kept_everything=False).records)
    assert [each.leader_epoch for each in after.topics["orders"].partitions] == [5, 4]
    kept = image.apply(register(image).records)
    assert [each.leader_epoch for each in kept.topics["orders"].partitions] == [4, 4]
