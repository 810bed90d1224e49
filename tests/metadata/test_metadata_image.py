import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    BrokerEndpoint,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    decode_record,
    encode_record,
)
from penstock.metadata.resources import ConfigResource, ResourceType
from penstock.metadata.topic_image import PartitionImage
from penstock.model.errors import InvariantError
from penstock.model.ids import LeaderEpoch, NodeId, TopicId

A, B = TopicId(b"a" * 16), TopicId(b"b" * 16)


def make_partition(topic_id: TopicId, index: int) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=(1,),
        isr=(1,),
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


def make_topic(name: str, topic_id: TopicId, partitions: int = 1) -> list[MetadataRecord]:
    return [
        TopicRecord(name=name, topic_id=topic_id),
        *(make_partition(topic_id, index) for index in range(partitions)),
    ]


def test_topic_and_partitions_appear() -> None:
    image = ClusterImage().apply(make_topic("x.y", A, 2))
    topic = image.topics["x.y"]
    assert topic.topic_id == A
    assert len(topic.partitions) == 2
    assert topic.partitions[1] == PartitionImage(
        replicas=(NodeId(1),),
        isr=(NodeId(1),),
        leader=NodeId(1),
        leader_epoch=LeaderEpoch(0),
        partition_epoch=0,
    )
    assert image.topics_by_id[A] is topic
    assert image.metric_names == {"x_y": "x.y"}
    assert image.partition_count == 2


def test_older_image_stays_as_it_was() -> None:
    first = ClusterImage().apply(make_topic("a", A))
    second = first.apply(
        [make_partition(A, 1), ConfigRecord(resource_type=2, resource_name="a", name="k", value="v")]
    )
    third = second.apply([RemoveTopicRecord(topic_id=A)])
    assert len(first.topics["a"].partitions) == 1
    assert first.configs == {}
    assert len(second.topics["a"].partitions) == 2
    assert third == ClusterImage()
    assert "a" in second.topics


def test_removed_topic_takes_its_settings_along() -> None:
    image = ClusterImage().apply(
        [
            *make_topic("a", A, 3),
            *make_topic("b", B),
            ConfigRecord(resource_type=2, resource_name="a", name="k", value="v"),
            ConfigRecord(resource_type=2, resource_name="b", name="k", value="w"),
            RemoveTopicRecord(topic_id=A),
        ]
    )
    assert list(image.topics) == ["b"]
    assert image.configs == {ConfigResource(ResourceType.TOPIC, "b"): {"k": "w"}}
    assert image.topic_configs("a") == {}
    assert image.partition_count == 1


def test_setting_is_set_changed_and_taken_away() -> None:
    def config(value: str | None, name: str = "") -> ConfigRecord:
        return ConfigRecord(resource_type=4, resource_name=name, name="k", value=value)

    image = ClusterImage().apply([config("1"), config("2"), config("3", "7")])
    assert image.cluster_configs() == {"k": "2"}
    assert image.broker_configs(NodeId(7)) == {"k": "3"}
    assert image.apply([config(None), config(None, "7"), config(None, "8")]) == ClusterImage()


def test_partition_change_touches_only_what_it_names() -> None:
    image = ClusterImage().apply(make_topic("a", A))
    before = image.topics["a"].partitions[0]
    same_leader = image.apply([PartitionChangeRecord(partition_id=0, topic_id=A, leader=1)])
    assert same_leader.topics["a"].partitions[0] == PartitionImage(
        replicas=before.replicas,
        isr=before.isr,
        leader=NodeId(1),
        leader_epoch=LeaderEpoch(1),
        partition_epoch=1,
    )
    grown = same_leader.apply(
        [
            PartitionChangeRecord(
                partition_id=0,
                topic_id=A,
                isr=(1, 2),
                replicas=(1, 2),
                removing_replicas=(3,),
                adding_replicas=(2,),
                leader_recovery_state=1,
            )
        ]
    )
    assert grown.topics["a"].partitions[0] == PartitionImage(
        replicas=(NodeId(1), NodeId(2)),
        isr=(NodeId(1), NodeId(2)),
        leader=NodeId(1),
        leader_epoch=LeaderEpoch(1),
        partition_epoch=2,
        removing_replicas=(NodeId(3),),
        adding_replicas=(NodeId(2),),
        leader_recovery_state=1,
    )


def test_broker_registers_and_returns() -> None:
    endpoint = BrokerEndpoint(name="PLAINTEXT", host="h", port=9)
    image = ClusterImage().apply(
        [
            RegisterBrokerRecord(broker_id=2, broker_epoch=0, fenced=True),
            RegisterBrokerRecord(broker_id=1, broker_epoch=3, fenced=False, end_points=(endpoint,), rack="r"),
        ]
    )
    broker = image.brokers[NodeId(1)]
    assert (broker.epoch, broker.rack, broker.endpoint("PLAINTEXT")) == (3, "r", endpoint)
    assert broker.endpoint("SSL") is None
    assert [each.node_id for each in image.live_brokers()] == [1]


def test_features_and_producer_ids_move() -> None:
    image = ClusterImage().apply(
        [
            FeatureLevelRecord(name="metadata.version", feature_level=7),
            ProducerIdsRecord(broker_id=1, next_producer_id=1000),
            NoOpRecord(),
        ]
    )
    assert image.features == {"metadata.version": 7}
    assert image.next_producer_id == 1000


def test_what_records_do_not_touch_stays_the_same_object() -> None:
    config = ConfigRecord(resource_type=2, resource_name="a", name="k", value="v")
    first = ClusterImage().apply([*make_topic("a", A), *make_topic("b", B), config])
    second = first.apply([make_partition(B, 1)])
    assert second.topics["a"] is first.topics["a"]
    assert second.topics["b"] is not first.topics["b"]
    assert second.configs is first.configs
    assert second.brokers is first.brokers
    third = second.apply([ProducerIdsRecord(broker_id=1, next_producer_id=5)])
    assert third.topics is second.topics


def test_changed_settings_are_found_by_resource() -> None:
    def config(name: str, value: str | None) -> ConfigRecord:
        return ConfigRecord(resource_type=2, resource_name=name, name="k", value=value)

    first = ClusterImage().apply([config("a", "1"), config("b", "1"), config("c", "1")])
    second = first.apply([config("b", "2"), config("c", None), config("d", "1")])
    assert {each.name for each in second.resources_changed_since(first)} == {"b", "c", "d"}
    assert first.apply([NoOpRecord()]).resources_changed_since(first) == frozenset()
    assert first.apply([config("x", None)]).configs is first.configs


@pytest.mark.parametrize(
    "records",
    [
        [TopicRecord(name="a", topic_id=B)],
        [TopicRecord(name="b", topic_id=A)],
        [RemoveTopicRecord(topic_id=B)],
        [make_partition(B, 0)],
        [make_partition(A, 0)],
        [make_partition(A, 2)],
        [PartitionChangeRecord(partition_id=1, topic_id=A)],
        [PartitionChangeRecord(partition_id=-1, topic_id=A)],
        [ProducerIdsRecord(next_producer_id=0)],
    ],
)
def test_record_that_makes_no_sense_is_a_bug(records: list[MetadataRecord]) -> None:
    image = ClusterImage().apply(make_topic("a", A))
    with pytest.raises(InvariantError):
        image.apply(records)


@st.composite
def histories(draw: st.DrawFn) -> list[MetadataRecord]:
    """Records that make sense, in an order in which they do."""
    records: list[MetadataRecord] = []
    counts: dict[int, int] = {}
    made = 0
    for _ in range(draw(st.integers(0, 30))):
        action = draw(st.sampled_from(["topic", "partition", "change", "remove", "config", "broker"]))
        if action == "topic":
            made += 1
            counts[made] = 0
            records.append(TopicRecord(name=f"t.{made}", topic_id=TopicId(made.to_bytes(16, "big"))))
        elif action == "broker":
            records.append(RegisterBrokerRecord(broker_id=draw(st.integers(0, 3)), broker_epoch=len(records)))
        elif counts:
            number = draw(st.sampled_from(sorted(counts)))
            topic_id = TopicId(number.to_bytes(16, "big"))
            if action == "partition":
                records.append(make_partition(topic_id, counts[number]))
                counts[number] += 1
            elif action == "change" and counts[number]:
                records.append(PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=1))
            elif action == "remove":
                records.append(RemoveTopicRecord(topic_id=topic_id))
                del counts[number]
            elif action == "config":
                value = draw(st.none() | st.text(max_size=3))
                records.append(
                    ConfigRecord(resource_type=2, resource_name=f"t.{number}", name="k", value=value)
                )
    return records


@given(histories(), st.data())
def test_replay_is_the_same_in_any_portions_and_through_bytes(
    records: list[MetadataRecord], data: st.DataObject
) -> None:
    at_once = ClusterImage().apply(records)
    cut = data.draw(st.integers(0, len(records)))
    assert ClusterImage().apply(records[:cut]).apply(records[cut:]) == at_once
    one_by_one = ClusterImage()
    for record in records:
        one_by_one = one_by_one.apply([decode_record(encode_record(record))])
    assert one_by_one == at_once
    assert at_once.partition_count == sum(len(topic.partitions) for topic in at_once.topics.values())
    assert {topic.name: topic for topic in at_once.topics_by_id.values()} == at_once.topics
