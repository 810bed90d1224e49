from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metadata.cluster import make_broker, make_image, make_partition, topic_records

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    decode_record,
    encode_record,
)
from penstock.metadata.snapshot import image_fingerprint, snapshot_records
from penstock.model.ids import TopicId

RICH: list[MetadataRecord] = [
    make_broker(1),
    make_broker(2, fenced=True, rack=None),
    make_broker(3, stopping=True, cordoned=True),
    *topic_records(
        "orders",
        TopicId(b"o" * 16),
        [
            make_partition(isr=(1,), elr=(2,)),
            make_partition((2, 1), isr=(), leader=-1, last=(2,)),
            make_partition((3, 1, 2), isr=(1, 2), leader=1, adding=(3,), removing=(2,)),
            make_partition(isr=(1,), recovery_state=1),
        ],
        configs={"retention.ms": "1000", "min.insync.replicas": "2"},
    ),
    *topic_records("x.y", TopicId(b"x" * 16), [make_partition((1,))]),
    *topic_records("gone", TopicId(b"g" * 16), [make_partition((1,))], configs={"retention.ms": "1"}),
    RemoveTopicRecord(topic_id=TopicId(b"g" * 16)),
    ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="2"),
    ConfigRecord(resource_type=4, resource_name="1", name="log.retention.ms", value="5"),
    FeatureLevelRecord(name="metadata.version", feature_level=7),
    ProducerIdsRecord(broker_id=1, broker_epoch=11, next_producer_id=3000),
]


def through_bytes(image: ClusterImage) -> ClusterImage:
    frames = [encode_record(record) for record in snapshot_records(image)]
    return ClusterImage().apply(decode_record(frame) for frame in frames)


def test_image_is_rebuilt_from_its_snapshot() -> None:
    image = ClusterImage().apply(RICH)
    rebuilt = through_bytes(image)
    assert rebuilt == image
    assert image_fingerprint(rebuilt) == image_fingerprint(image)


def test_empty_image_has_an_empty_snapshot() -> None:
    assert list(snapshot_records(ClusterImage())) == []


@settings(deadline=None)
@given(st.permutations(["orders", "x.y", "b", "c"]), st.permutations([1, 2, 3]))
def test_fingerprint_does_not_tell_in_which_order_things_came(names: list[str], ids: list[int]) -> None:
    image = ClusterImage().apply(map(make_broker, ids))
    for name in names:
        image = image.apply(topic_records(name, TopicId(name.encode().ljust(16)), [make_partition((1,))]))
    in_order = ClusterImage().apply(map(make_broker, sorted(ids)))
    for name in sorted(names):
        in_order = in_order.apply(
            topic_records(name, TopicId(name.encode().ljust(16)), [make_partition((1,))])
        )
    assert image_fingerprint(image) == image_fingerprint(in_order)


def test_fingerprint_tells_of_the_smallest_difference() -> None:
    prints = {image_fingerprint(ClusterImage().apply(RICH[:count])) for count in range(len(RICH) + 1)}
    assert len(prints) == len(RICH)  # All differ, but that a topic made and deleted leaves no trace.
    assert image_fingerprint(make_image()) != image_fingerprint(make_image(make_partition(elr=(2,))))
