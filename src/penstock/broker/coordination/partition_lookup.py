"""Finding a partition in an image by its name."""

from penstock.metadata.image import ClusterImage
from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import TopicPartition


def partition_image(image: ClusterImage, name: TopicPartition) -> PartitionImage | None:
    """What the cluster knows of a partition, if there is such a partition."""
    topic = image.topics.get(name.topic)
    if topic is None or not 0 <= name.partition < len(topic.partitions):
        return None
    return topic.partitions[name.partition]
