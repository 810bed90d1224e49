from penstock.groups.topics import ImageTopics
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import PartitionRecord, TopicRecord
from penstock.model.ids import ZERO_TOPIC_ID, TopicId

ORDERS = TopicId(b"o" * 16)


def test_topics_of_an_image_have_names_ids_and_partitions() -> None:
    image = ClusterImage().apply(
        [
            TopicRecord(name="orders", topic_id=ORDERS),
            PartitionRecord(partition_id=0, topic_id=ORDERS, replicas=(1,), isr=(1,), leader=1),
            PartitionRecord(partition_id=1, topic_id=ORDERS, replicas=(1,), isr=(1,), leader=1),
        ]
    )
    topics = ImageTopics(image)
    assert topics.name_of(ORDERS) == "orders"
    assert topics.name_of(TopicId(b"?" * 16)) is None
    assert topics.id_of("orders") == ORDERS
    assert topics.id_of("nothing") == ZERO_TOPIC_ID
    partitions = [topics.has_partition("orders", index) for index in (-1, 0, 1, 2)]
    assert partitions == [False, True, True, False]
    assert not topics.has_partition("nothing", 0)
